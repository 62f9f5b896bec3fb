// "paste" is „das Paste“ (neuter; des Pastes, die Pastes).
import { pluralsIn } from './plurals.ts';
import type { Translation } from './translation.ts';

const plural = pluralsIn<'one' | 'other'>('de');

export const de: Translation = {
  locale: 'de',
  name: 'Deutsch',
  direction: 'ltr',
  choice: 'Sprache der Seiten',
  units: { kib: 'KiB', mib: 'MiB', gib: 'GiB' },
  back: (page: string) => `← ${page}`,
  skipToContent: 'Zum Inhalt springen',
  navigation: 'Seiten',
  newPaste: 'Neues Paste',
  newPasteShort: 'Neu',
  newPasteRest: 'es Paste',
  documentation: 'API',
  list: { filter: 'Filtern', pages: 'Seiten der Liste', first: 'Erste Seite', next: 'Nächste Seite →' },
  intro: (house: string) =>
    `${house} bewahrt einen Text oder eine Datei so lange auf, wie Sie möchten, und gibt Ihnen einen kurzen Link zum Teilen.`,
  houseLinks: { imprint: 'Impressum', privacy: 'Datenschutz', terms: 'Nutzungsbedingungen' },
  reportAbuse: 'Missbrauch melden',

  themes: {
    auto: 'Farben: wie im System',
    light: 'Farben: hell',
    dark: 'Farben: dunkel',
  },
  keys: {
    title: 'Tastenkürzel',
    option: 'Diese Tastenkürzel verwenden',
    close: 'Schließen',
  },

  form: {
    title: 'Neues Paste',
    content: 'Text',
    placeholder: 'Text hier einfügen oder eingeben.',
    contentHint:
      'Strg+Enter erstellt das Paste. Tab rückt ein; mit Esc und dann Tab verlassen Sie das Textfeld. Dateien können Sie überall auf der Seite ablegen.',
    file: 'Oder Dateien',
    addFile: 'Datei hinzufügen',
    fileName: 'Name der Datei',
    atMost: (size: string) => `Höchstens ${size}.`,
    labels: {
      title: 'Titel (optional)',
      syntax: 'Sprache',
      expires_in: 'Ablauf',
      visibility: 'Lesbar für',
      burn: 'Paste beim Lesen löschen',
      slug: 'Name im Link (optional)',
    },
    hints: {
      burn: 'Der Link führt zu einer Schaltfläche. Wer zuerst darauf klickt, liest den Text, und danach kann ihn niemand mehr lesen.',
      slug: '3 bis 64 Kleinbuchstaben, Ziffern und Bindestriche, ohne Bindestrich am Anfang oder Ende: Der Link endet dann auf ~name.',
    },
    choices: {
      visibility: {
        unlisted: 'Alle, die den Link haben',
        members: 'Angemeldete, die den Link haben',
        private: 'Nur Sie',
      },
    },
    detectSyntax: 'Automatisch erkennen',
    detectedSyntax: 'Erkannt: {name}',
    expiries: {
      3600: 'Nach 1 Stunde',
      86400: 'Nach 1 Tag',
      604800: 'Nach 1 Woche',
      2592000: 'Nach 30 Tagen',
      31536000: 'Nach 1 Jahr',
      never: 'Nie',
    },
    expiresAfter: (time: string) => `Nach ${time}`.replace(/ Tage$/, ' Tagen'),
    burnOnly: 'Ohne Anmeldung können Sie nur Pastes erstellen, die beim Lesen gelöscht werden.',
    closed: 'Um hier Pastes zu erstellen, melden Sie sich an. Zum Lesen genügt der Link.',
    slugRefused: (reason: string) => `Dieser Name geht nicht: ${reason}`,
    removeFile: 'Entfernen',
    removeNamed: (name: string) => `${name} entfernen`,
    bothWithoutScript:
      'Das Formular enthielt einen Text und eine Datei, ein Paste kann aber nur eines davon sein. Dies ist der Text: Erstellen Sie das Paste, oder löschen Sie den Text und wählen Sie die Datei noch einmal aus.',
    several: {
      each: 'Je Datei ein Paste',
      created: 'Erstellte Pastes: {count}',
      refused: 'Nicht erstellt',
      copyAll: 'Alle Links kopieren',
    },
    fileAgain: 'Falls Sie Dateien ausgewählt hatten, wählen Sie sie noch einmal aus.',
    more: 'Weitere Optionen',
    submit: 'Paste erstellen',
    privacy: 'Wer den Link hat, kann das Paste lesen.',
    empty: 'Geben Sie einen Text ein oder wählen Sie eine Datei aus.',
    unreachable: 'Der Server hat nicht geantwortet. Ihr Text ist noch da: Versuchen Sie es noch einmal.',
    userChanged:
      'Seit dieses Formular geöffnet wurde, haben Sie sich an- oder abgemeldet. Es wurde nichts erstellt.',
    createAs: (name: string) => `Als ${name} erstellen`,
    createAsNobody: 'Ohne Anmeldung erstellen',
  },

  secret: {
    doorsLabel: 'Was Sie erstellen',
    doors: { text: 'Text', secret: 'Geheimnis' },
    title: 'Neues Geheimnis',
    intro: 'Ein Geheimnis ist für eine Person: Sein Link zeigt es ein einziges Mal, danach ist es gelöscht.',
    placeholder: 'Hier ein Passwort, einen Schlüssel oder ein anderes Geheimnis einfügen oder eingeben.',
    submit: 'Geheimen Link erstellen',
    submitPlain: 'Ohne Verschlüsselung erstellen',
    insecure:
      'Diese Seite wurde nicht über https geladen: Dann verschlüsseln Browser nichts, und andere können mitlesen, was gesendet wird. Öffnen Sie die Seite über https oder verwenden Sie den Befehl pasteflow put --secret.',
    needsScript:
      'Diese Seite verschlüsselt nur mit JavaScript. Schalten Sie JavaScript ein und laden Sie die Seite neu, oder verwenden Sie den Befehl pasteflow put --secret.',
    unencrypted:
      'Auch ohne Verschlüsselung können Sie ein Geheimnis erstellen, das beim Lesen gelöscht wird. Bis dahin kann der Dienst es aber lesen.',
    next: 'Kopieren Sie den Link und senden Sie ihn einer einzigen Person. Wer ihn öffnet, sieht zunächst nur eine Schaltfläche: Wer sie als Erster drückt, liest das Geheimnis.',
  },

  created: {
    title: 'Paste erstellt',
    link: 'Link zum Paste',
    deleteToken: 'Löschcode',
    deleteTokenHint: 'Wer diesen Löschcode hat, kann das Paste löschen. Er wird nur hier angezeigt.',
    kept: 'Dieser Browser speichert die Löschcodes Ihrer Pastes, damit Sie die Pastes auf deren Seiten löschen können. Auf einem gemeinsam genutzten Computer:',
    forget: 'Löschcodes aus diesem Browser entfernen',
    forgotten: 'Die Löschcodes sind entfernt. Kopieren Sie diesen, wenn Sie ihn behalten möchten.',
    readers: {
      unlisted: 'lesbar für alle, die den Link haben',
      members: 'nur für Angemeldete lesbar',
      private: 'nur für Sie lesbar',
    },
    readOnce: 'wird beim ersten Lesen gelöscht',
    open: 'Paste öffnen',
    another: 'Weiteres erstellen',
    copy: 'Kopieren',
    copyLink: 'Link kopieren',
    copied: 'Kopiert',
    notCopied: 'Fehler',
    keyHint:
      'Der Schlüssel ist Teil des Links, und nur diese Seite kennt ihn: Ohne den vollständigen Link kann niemand das Paste lesen.',
  },

  paste: {
    untitled: 'Paste ohne Titel',
    plainText: 'Reiner Text',
    files: (count: number) => plural(count, { one: '# Datei', other: '# Dateien' }),
    andOthers: (count: number) => plural(count, { one: 'und # weitere', other: 'und # weitere' }),
    fileList: 'Dateien',
    file: 'Datei',
    downloadAll: 'Alle herunterladen',
    emptyFile: 'Diese Datei ist leer.',
    badges: {
      members: 'Für Mitglieder',
      private: 'Privat',
      burn: 'Einmal lesbar',
      encrypted: 'Verschlüsselt',
    },
    language: 'Sprache',
    created: 'Erstellt',
    expiresLine: 'Ablauf:',
    neverExpiresLine: 'läuft nie ab',
    upload: 'Upload',
    uploadStates: { IN_PROGRESS: 'läuft', PROCESSED: 'gespeichert', FAILED: 'fehlgeschlagen' },
    timeline: 'Verlauf',
    raw: 'Rohtext',
    download: 'Herunterladen',
    copy: 'Text kopieren',
    copied: 'Kopiert',
    copyFailed: 'Nicht kopiert',
    copyLink: 'Link kopieren',
    share: 'Teilen',
    copyLines: 'Link zu den Zeilen kopieren',
    copyMarkdown: 'Als Markdown kopieren',
    more: 'Mehr',
    show: 'Anzeigen',
    wrap: 'Umbruch',
    tabSize: 'Tabulatorbreite',
    tabSizeAuto: 'Nach Sprache',
    qr: 'QR-Code',
    qrOf: (url: string) => `QR-Code für ${url}`,
    fork: 'Neues Paste daraus',
    edit: 'Bearbeiten',
    editWithToken: 'Mit dem Löschcode bearbeiten',
    changes: 'Änderungen',
    lines: 'Zeilen auswählen',
    linesWrong: 'Geben Sie eine Zeile ein, etwa 12, oder mehrere Zeilen, etwa 12-20.',
    lineSelected: 'Zeile {first} ist ausgewählt.',
    linesSelected: 'Die Zeilen {first} bis {last} sind ausgewählt.',
    lineMissing: 'Die Zeilen {first} bis {last} gibt es auf der Seite nicht oder nicht alle.',
    views: 'Ansicht',
    source: 'Quelltext',
    rendered: 'Formatiert',
    rendering: 'Der Text wird formatiert …',
    notRendered:
      'Dieser Text ist zu komplex, um formatiert angezeigt zu werden. Die Seite zeigt seinen Quelltext.',
    notLoaded:
      'Der Text konnte nicht formatiert werden. Laden Sie die Seite neu, um es noch einmal zu versuchen.',
    needsScript: 'Formatiert nur mit JavaScript',
    sourceOnly: (size: string) => `Markdown mit mehr als ${size} wird als Quelltext angezeigt.`,
    image: 'Bild',
    alerts: { note: 'Hinweis', tip: 'Tipp', important: 'Wichtig', warning: 'Warnung', caution: 'Vorsicht' },
    imageOf: (format: string) => `${format}-Bild`,
    imageAlt: (paste: string) => `Das Bild ${paste}`,
    openImage: 'Bild öffnen',
    binary: 'Binärdatei',
    binaryHint: 'Dieser Inhalt ist kein Text, deshalb zeigt die Seite ihn nicht an.',
    asText: 'Als Text anzeigen',
    content: 'Inhalt des Pastes',
    inProgress: 'Der Upload dieses Pastes läuft. Die Seite zeigt den Text, sobald er gespeichert ist.',
    notUtf8:
      'Einige Bytes dieses Pastes sind kein UTF-8 und werden als � angezeigt. Der Download enthält die unveränderten Bytes.',
    bidi: 'Dieser Text enthält Zeichen, die die Schreibrichtung ändern und so verbergen können, was ein Programm liest. Die Seite zeigt stattdessen ihre Codes, zum Beispiel [U+202E].',
    longLines: (characters: string) =>
      `Zeilen mit mehr als ${characters} Zeichen werden auf dieser Seite umbrochen. Der Download enthält den unveränderten Text.`,
    cut: (lines: string) =>
      `Die Seite zeigt die ersten ${lines} Zeilen. Der Download enthält den ganzen Text.`,
    deleteTitle: 'Dieses Paste löschen',
    deleteMenu: 'Löschen',
    deleteHint: 'Der Löschcode wurde beim Erstellen des Pastes angezeigt.',
    deleteToken: 'Löschcode',
    deleteOwnHint: 'Das Paste gehört Ihnen. Ein gelöschtes Paste lässt sich nicht wiederherstellen.',
    deleteButton: 'Endgültig löschen',
    deleted: 'Paste gelöscht',
    deletedText: 'Das Paste ist gelöscht und lässt sich nicht wiederherstellen.',
    rightAddress: {
      title: 'Die Adresse enthält %23 statt #',
      text: 'Ein Programm, zum Beispiel für E-Mails, hat die Adresse verändert. Diese Seite führt zur richtigen Adresse weiter. Ohne JavaScript folgen Sie dem Link.',
    },
  },

  diff: {
    madeFrom: 'Basiert auf',
    madeFromHint:
      'Wer das neue Paste liest, sieht diesen Code. Wer das ursprüngliche Paste lesen darf, kann es öffnen und sehen, was Sie geändert haben.',
    parentMissing:
      'Sie können das ursprüngliche Paste nicht mehr lesen. Das Formular unten verweist nicht mehr darauf: Erstellen Sie das neue Paste noch einmal.',
    notText: 'Das ursprüngliche Paste ist kein Text, deshalb wird sein Inhalt nicht übernommen.',
    tooLong: (size: string) =>
      `Das ursprüngliche Paste ist größer als ${size}. Sein Text wird nur mit JavaScript übernommen.`,
    notFilled:
      'Der Text des ursprünglichen Pastes konnte nicht geladen werden. Laden Sie die Seite neu, um es noch einmal zu versuchen.',
    title: (paste: string) => `Änderungen in ${paste}`,
    heading: 'Änderungen in',
    from: 'Vorher',
    to: 'Nachher',
    by: { owner: 'von Ihnen', other: 'vom Eigentümer', token: 'anonym' },
    rawOf: (code: string) => `Rohtext von ${code}`,
    lines: 'Zeilen',
    counts: (added: string, removed: string) => `+${added} hinzugefügt, -${removed} entfernt`,
    hunk: (oldNumber: number, newNumber: number) =>
      `Änderungen ab Zeile ${oldNumber} des alten und Zeile ${newNumber} des neuen Textes`,
    groups: { removed: 'Entfernt', added: 'Hinzugefügt' },
    files: {
      changed: 'Geändert',
      added: 'Hinzugefügt',
      removed: 'Entfernt',
      renamed: 'Umbenannt',
      before: 'Vorheriger Name:',
    },
    noNewline: 'Kein Zeilenumbruch am Ende',
    equal: 'Die Texte sind gleich.',
    lineEnds:
      'Die Texte haben unterschiedliche Zeilenenden (CR LF im einen, LF im anderen). Zeilen, die sich nur darin unterscheiden, werden als gleich angezeigt.',
    notUtf8:
      'Einige Bytes dieser Texte sind kein UTF-8 und werden als � angezeigt. Der Patch enthält die unveränderten Bytes.',
    command: 'Die Änderungen als Patch, mit den unveränderten Bytes:',
  },

  change: {
    link: 'Titel oder Ablauf ändern',
    title: (paste: string) => `Paste ${paste} ändern`,
    intro: 'Der Text bleibt, wie er ist. Leser sehen die Änderungen sofort.',
    expires: 'Läuft ab',
    keep: 'Wie bisher',
    save: 'Speichern',
    back: 'Zurück zum Paste',
  },
  report: {
    link: 'Melden',
    title: (paste: string) => `Paste ${paste} melden`,
    intro:
      'Die Betreiber dieses Dienstes lesen Ihre Meldung und entscheiden, ob das Paste bleibt. Ein verschlüsseltes Paste können sie nicht lesen: Schreiben Sie, was es enthält.',
    severalFiles:
      'Das Paste hat mehrere Dateien, und Ihre Meldung betrifft alle: Schreiben Sie, welche Datei Sie meinen.',
    reason: 'Grund',
    reasons: {
      illegal: 'Rechtswidriger Inhalt',
      copyright: 'Urheberrechtsverletzung',
      malware: 'Schadsoftware',
      phishing: 'Phishing',
      personal_data: 'Personenbezogene Daten oder Zugangsdaten',
      spam: 'Spam',
      other: 'Sonstiges',
    },
    text: 'Was ist nicht in Ordnung? (optional)',
    contact: 'Ihre E-Mail-Adresse (optional)',
    contactHint:
      'Für Rückfragen der Betreiber. Text und Adresse werden einige Wochen nach der Entscheidung gelöscht.',
    send: 'Meldung senden',
    done: 'Meldung gesendet',
    doneText: 'Ein Betreiber dieses Dienstes wird sie prüfen.',
    held: 'Dieses Paste wurde vielfach gemeldet. Bis ein Betreiber entschieden hat, können nur Sie es lesen.',
  },

  history: {
    title: (name: string) => `Versionen von ${name}`,
    intro:
      'Die neueste zuerst. Versionen, die es nicht mehr gibt oder die Sie nicht lesen können, sind nicht aufgeführt.',
    version: (number: number) => `Version ${number}`,
    versionOf: (number: number, newest: number) => `Version ${number} von ${newest}`,
    older: (slug: string) => `~${slug} verweist auf eine ältere Version dieses Pastes.`,
    move: (slug: string) => `~${slug} auf diese Version umstellen`,
    newer: 'Es gibt eine neuere Version dieses Pastes.',
    openNewer: 'Öffnen',
    newerChanges: 'Was sich geändert hat',
    compareHint:
      'Wählen Sie eine Version, und drücken Sie bei einer anderen auf „Vergleichen“, um die Änderungen zwischen beiden zu sehen.',
    compareFrom: (number: number) => `Ab Version ${number} vergleichen`,
    compare: 'Vergleichen',
    compareWith: (number: number) => `Mit Version ${number} vergleichen`,
    restore: 'Wiederherstellen',
    restoreOne: (number: number) => `Version ${number} wiederherstellen`,
  },

  edit: {
    title: (paste: string) => `${paste} bearbeiten`,
    of: 'Neue Version von',
    save: 'Neue Version speichern',
    keep: 'Wie bei der Version davor',
    hint: 'Wer die Version davor liest, sieht einen Link auf die neue. Die Version davor bleibt, bis sie abläuft oder gelöscht wird.',
    keptFiles: 'Dateien, die bleiben',
    keptHint:
      'Eine ausgewählte Datei ersetzt die mit ihrem Namen oder kommt ans Ende. Mit JavaScript können Sie hier auch Dateien umbenennen und ihren Text ändern.',
    tokenHint:
      'Er wurde angezeigt, als diese Version erstellt wurde. Die neue Version bekommt einen eigenen.',
    conflict: (code: string) => `${code} ist eine neuere Version, die Ihr Text nicht berücksichtigt.`,
    conflictHint:
      'Sehen Sie nach, was sich geändert hat. Wenn Sie speichern, wird Ihr Text die Version danach.',
    saved: 'Neue Version gespeichert',
  },

  burn: {
    explanation:
      'Dieses Paste lässt sich nur einmal lesen: Die Schaltfläche zeigt den Inhalt an und löscht das Paste.',
    readers: 'Wer es zuerst anzeigt, liest es, und danach niemand mehr.',
    helpTitle: 'Wenn nichts ankommt',
    help: 'Laden Sie innerhalb von fünf Minuten die Seite neu, die den Text anzeigen sollte. Was weder Text noch Bild ist, speichert der Browser als Datei: Klicken Sie dann noch einmal auf die Schaltfläche. Wer den Link neu öffnet, gilt als eine andere Person.',
    reveal: 'Text anzeigen und Paste löschen',
    revealFiles: 'Dateien anzeigen und Paste löschen',
    command: 'Auf der Kommandozeile:',
    revealed:
      'Das Paste ist gelöscht: Kopieren Sie, was Sie brauchen, oder laden Sie es herunter. Wenn das Ende fehlt, laden Sie diese Seite sofort neu; das funktioniert fünf Minuten lang.',
    revealedImage:
      'Das Paste ist gelöscht: Speichern Sie das Bild. Das Herunterladen und das Neuladen dieser Seite funktionieren fünf Minuten lang.',
  },

  receipt: {
    title: 'Abgerufen',
    fetched: 'abgerufen',
    somebody: 'jemandem mit dem Link',
    by: (reader: string) => `von ${reader}`,
    meaning:
      'Abgerufen heißt, dass der Inhalt gesendet wurde. Ob er ganz angekommen ist und entschlüsselt werden konnte, ist nicht bekannt.',
    notYet: 'Noch niemand hat es abgerufen.',
    unnamed: 'Wer dieses Paste erstellt hat, wird sehen, dass es abgerufen wurde.',
    named: (reader: string) =>
      `Wer dieses Paste erstellt hat, wird sehen, dass Sie, ${reader}, es abgerufen haben.`,
  },
  encryption: {
    option: 'In diesem Browser verschlüsseln',
    password: 'Passwort (optional)',
    passwordHint:
      'Zum Lesen sind dann der Link und das Passwort nötig. Senden Sie das Passwort auf einem anderen Weg.',
    failed: 'Der Browser konnte das Paste nicht verschlüsseln.',
    insecure:
      'Browser ver- und entschlüsseln nur auf Seiten, die über https geladen wurden. Öffnen Sie diese Seite über https oder verwenden Sie den Befehl pasteflow.',
    readers: 'Nur der vollständige Link mit seinem Schlüssel öffnet das Paste.',
  },

  encrypted: {
    title: 'Verschlüsseltes Paste',
    needsScript:
      'Dieses Paste ist verschlüsselt, und ein Browser braucht JavaScript, um es zu entschlüsseln. Schalten Sie JavaScript ein und laden Sie die Seite neu.',
    password: 'Passwort',
    decrypt: 'Entschlüsseln',
    qr: 'QR-Code des Links mit seinem Schlüssel',
    document: 'Verschlüsseltes Dokument',
    explanationTitle: 'Wovor die Verschlüsselung schützt',
    explanation:
      'Das Paste wird im Browser der Person verschlüsselt, die es schreibt. Der Schlüssel steht im Link hinter dem #, und diesen Teil senden Browser an keinen Server. Wer nur die Daten dieses Dienstes hat, etwa der Betreiber, ein Eindringling oder wer an eine Sicherungskopie kommt, kann das Paste nicht lesen. Der Dienst kennt trotzdem die Größe und die Zeitangaben des Pastes sowie die IP-Adressen derer, die es lesen. Er liefert auch das Skript, das entschlüsselt: Ein böswilliger oder gehackter Dienst könnte ein anderes Skript liefern, das den Schlüssel ausliest. Wer den vollständigen Link hat und, falls es eines gibt, das Passwort, kann das Paste lesen.',
    inBrowser: {
      loading: 'Das verschlüsselte Paste wird geladen …',
      decrypting: 'Wird entschlüsselt …',
      noKey:
        'Der Link ist unvollständig: Der Schlüssel hinter dem # fehlt. Öffnen Sie den vollständigen Link oder bitten Sie die Person darum, die das Paste erstellt hat.',
      unreachable:
        'Der Server hat das Paste nicht gesendet. Laden Sie die Seite neu, um es noch einmal zu versuchen.',
      notRevealed:
        'Der Server hat das Paste nicht vollständig gesendet. Klicken Sie innerhalb von fünf Minuten noch einmal auf die Schaltfläche und laden Sie diese Seite nicht neu.',
      gone: 'Das Paste wurde gelesen, wurde gelöscht oder ist abgelaufen.',
      notShown: 'Diese Seite konnte das Paste nicht entschlüsseln oder kann seinen Inhalt nicht anzeigen.',
      outdated:
        'Dieser Browser kann das Paste nicht entschlüsseln. Aktualisieren Sie ihn oder öffnen Sie den Link in einem anderen.',
      revealed:
        'Das Paste ist gelöscht, und nur diese Seite hat es noch: Kopieren Sie, was Sie brauchen, oder laden Sie es herunter.',
      tooLarge: 'Das entschlüsselte Paste ist zu groß für diese Seite.',
      askPassword:
        'Das Paste hat ein Passwort, oder der Schlüssel im Link ist falsch. Geben Sie das Passwort ein.',
      wrong: 'Das Passwort oder der Schlüssel im Link ist falsch, oder jemand hat das Paste verändert.',
      onlyCopy:
        'Der Dienst hat das Paste gelöscht, und diese Seite hat die einzige Kopie. Korrigieren Sie das Passwort oder den Schlüssel in der Adresse, oder laden Sie das verschlüsselte Dokument herunter. Der Befehl pasteflow cat --from FILE entschlüsselt es.',
      saveDocument: 'Verschlüsseltes Dokument herunterladen',
      attachment: 'NAME herunterladen',
    },
  },

  timeline: {
    title: (paste: string) => `Verlauf von ${paste}`,
    back: 'Zurück zum Paste',
    intro:
      'Jeder Status dieses Pastes und jeder Versuch, es hochzuladen, wie in der Datenbank aufgezeichnet.',
    chart: 'Status und Versuche im Zeitverlauf',
    paste: 'Paste',
    job: 'Auftrag',
    attempt: (number: number) => `Versuch ${number}`,
    transitions: 'Statuswechsel',
    attempts: 'Versuche',
    retries: 'Wiederholungen',
    from: 'Von',
    to: 'Zu',
    at: 'Zeit (UTC)',
    after: 'Seit Beginn',
    by: 'Durch',
    reason: 'Grund',
    subject: 'Betrifft',
    state: 'Status',
    due: 'Fällig',
    started: 'Begonnen',
    finished: 'Beendet',
    error: 'Fehler',
    waiting: 'wartet',
    running: 'läuft',
    states: {
      SUCCEEDED: 'erfolgreich',
      NOT_EXPIRED: 'nicht abgelaufen',
      DELETION_IN_PROGRESS: 'wird gelöscht',
      DELETED: 'gelöscht',
    },
    reasons: {
      claimed: 'übernommen',
      interrupted: 'unterbrochen',
      yielded: 'zurückgestellt',
      worker_lost: 'Worker verloren',
      dead_letter: 'unzustellbare Nachricht',
      lost_too_often: 'zu oft verloren',
      storage_unavailable: 'Speicher nicht erreichbar',
      storage_refused: 'Speicher hat abgelehnt',
      database_unavailable: 'Datenbank nicht erreichbar',
      content_damaged: 'Inhalt beschädigt',
      work_failed: 'Arbeit fehlgeschlagen',
      cancelled: 'abgebrochen',
      internal: 'interner Fehler',
      expired: 'abgelaufen',
      object_deleted: 'Objekt gelöscht',
      revealed: 'gelesen',
      endpoint_failed: 'Endpunkt hat nicht angenommen',
      endpoint_off: 'Webhook ausgeschaltet oder entfernt',
      claimed_too_long: 'zu lange übernommen',
      stranded: 'liegen geblieben',
      retried: 'wiederholt',
      other: 'anderer Grund',
    },
    machines: { paste_upload: 'Upload', paste_deletion: 'Löschung', task_execution: 'Versuch' },
    none: 'Es gibt noch keine Statuswechsel.',
  },

  myPastes: {
    title: 'Meine Pastes',
    titleFilter: 'Titel oder Dateiname enthält',
    upload: 'Upload',
    readers: 'Sichtbarkeit',
    visibilities: { unlisted: 'Nicht gelistet', members: 'Für Mitglieder', private: 'Privat' },
    anyState: 'Alle',
    order: 'Reihenfolge',
    newestFirst: 'Neueste zuerst',
    byExpiry: 'Nach Ablauf',
    cut: 'Sortiert sind die 10.000 neuesten Ihrer Pastes.',
    paste: 'Paste',
    selectAll: 'Alle auswählen',
    selectOne: (name: string) => `${name} auswählen`,
    copyLinkOf: (name: string) => `Link kopieren: ${name}`,
    selected: '{count} von {all}',
    deleteSelected: 'Auswahl löschen …',
    none: 'Sie haben noch keine Pastes.',
    usedPastes: (used: string, allowed: string) => `${used} von ${allowed} Pastes`,
    usedSize: (used: string, allowed: string) => `${used} von ${allowed}`,
    noMatch: 'Kein Paste entspricht dem Filter.',
    noneYet: 'Kein Treffer unter den 10.000 neuesten dieser Pastes. Die Suche geht mit den älteren weiter.',
    confirm: (count: number) =>
      plural(count, { one: 'Dieses Paste löschen?', other: 'Diese # Pastes löschen?' }),
    confirmHint: 'Ein gelöschtes Paste lässt sich nicht wiederherstellen.',
    keep: (count: number) => plural(count, { one: 'Behalten', other: 'Behalten' }),
    deleted: (count: number) =>
      plural(count, { one: '# Paste ist gelöscht.', other: '# Pastes sind gelöscht.' }),
  },
  myJobs: {
    title: 'Meine Aufträge',
    anyState: 'Alle',
    anyType: 'Alle',
    none: 'Sie haben noch keine Aufträge. Ein Import macht aus den Dateien eines Archivs Pastes, ein Export aus all Ihren Pastes ein Archiv.',
    noMatch: 'Kein Auftrag entspricht dem Filter.',
    all: 'Alle meine Aufträge anzeigen',
    importTitle: 'Import',
    file: 'Datei',
    fileHint: 'Bei zip, tar oder tar.gz wird jede Datei ein Paste, bei NDJSON jede Zeile.',
    asOnePaste: 'Aus allen Dateien eines Archivs ein Paste machen, höchstens 100',
    startImport: 'Import starten',
    exportTitle: 'Export',
    exportHint: 'Alle Ihre Pastes, die Inhalt haben, in einem oder mehreren Archiven.',
    format: 'Format',
    startExport: 'Export starten',
  },
  job: {
    types: { import: 'Import', export: 'Export' },
    titled: (type: string) => `${type} von`,
    type: 'Art',
    state: 'Status',
    states: {
      queued: 'wartet',
      processing: 'läuft',
      completed: 'abgeschlossen',
      partial: 'teilweise erledigt',
      failed: 'fehlgeschlagen',
    },
    cancelled: 'abgebrochen',
    progress: 'Fortschritt',
    waiting: 'Der Auftrag wartet, bis er an der Reihe ist.',
    ended: 'Beendet',
    cancel: 'Diesen Auftrag abbrechen',
    cancelHint: 'Der Auftrag endet sofort. Was er schon erstellt hat, bleibt erhalten.',
    cancelButton: 'Auftrag abbrechen',
    retry: 'Auftrag wiederholen',
    retryHint: 'Ein neuer Auftrag importiert, was fehlt.',
    retryOf: { name: 'Wiederholung von', link: 'einem früheren Auftrag' },
    retriedAs: { name: 'Wiederholt durch', link: 'einen neuen Auftrag' },
    result: 'Ergebnis',
    counts: {
      imported: 'Importiert',
      imported_earlier: 'Zuvor importiert',
      failed: 'Fehlgeschlagen',
      exported: 'Exportiert',
      skipped: 'Übersprungen, weil macOS sie dem Archiv hinzugefügt hat',
      missing_count: 'Fehlend',
      left_out: 'Ausgelassen, weil sie beim Lesen gelöscht werden',
      bytes: 'Größe',
    },
    errors: 'Einträge, die nicht importiert wurden',
    position: 'Eintrag',
    entry: (number: number) => `Eintrag ${number}`,
    line: (number: number) => `Zeile ${number}`,
    name: 'Name',
    reason: 'Grund',
    missing: 'Pastes ohne Inhalt',
    download: 'Archiv herunterladen',
    downloadArchive: (number: number) => `Archiv ${number} herunterladen`,
    archivesRemoved:
      'Die Archive dieses Exports wurden entfernt: Nur die Ihrer drei neuesten Exporte bleiben erhalten.',
    downloadOf: (type: string) => `Herunterladen: ${type}`,
    downloadHint: 'Der Link gilt einige Minuten; für einen neuen laden Sie die Seite neu.',
    pastes: 'Pastes',
    newestPastes: (count: number) =>
      plural(count, { one: 'Das neueste wird angezeigt.', other: 'Die # neuesten werden angezeigt.' }),
    allPastes: 'Alle meine Pastes anzeigen',
  },
  requests: {
    asked: 'Sie werden um ein Geheimnis gebeten',
    askedBy: 'Anfrage von',
    left: (count: number) =>
      plural(count, { one: 'nimmt noch # Geheimnis an', other: 'nimmt noch # Geheimnisse an' }),
    quotation: 'Über diesen Dienst angefragt, in den Worten der anfragenden Person:',
    caution: 'Senden Sie ein Geheimnis nur, wenn Sie wissen, wer fragt und warum.',
    unchecked: 'Niemand hat diese Worte geprüft.',
    report: 'Diese Anfrage melden',
    ownRequest: 'Dies ist Ihre Anfrage. So sehen andere sie.',
    openOwn: 'Ansehen, was angekommen ist',
    needsScript:
      'Ver- und entschlüsselt wird hier in Ihrem Browser, und dafür braucht er JavaScript. Schalten Sie JavaScript ein und laden Sie die Seite neu.',
    secret: 'Ihr Geheimnis',
    placeholder: 'Geheimnis hier eingeben oder einfügen.',
    keys: 'Tab rückt ein; mit Esc und dann Tab verlassen Sie das Textfeld. Dateien können Sie überall auf der Seite ablegen.',
    send: 'Verschlüsseln und senden',
    privacy:
      'Ihr Browser verschlüsselt das Geheimnis, bevor es dieses Gerät verlässt. Nur wer anfragt, kann es öffnen, der Betreiber dieses Dienstes nicht.',
    explanation:
      'Der Link enthält hinter dem # einen Schlüssel, und diesen Teil senden Browser an keinen Server. Was Sie senden, lässt sich nur mit der anderen Hälfte dieses Schlüssels öffnen, und die hat nur, wer anfragt. Wer nur die Daten dieses Dienstes hat, etwa der Betreiber, ein Eindringling oder wer an eine Sicherungskopie kommt, kann es nicht lesen. Der Dienst kennt trotzdem die Größe, den Zeitpunkt und Ihre IP-Adresse. Er liefert auch das Skript, das verschlüsselt: Ein böswilliger oder gehackter Dienst könnte ein anderes Skript liefern, das mitliest, was Sie eingeben.',
    sent: 'Ihr Geheimnis ist gesendet',
    sentText: 'Nur wer angefragt hat, kann es öffnen. Sie können diese Seite schließen.',
    receipt: 'Beleg',
    receiptHint: 'Er benennt bei Rückfragen, was Sie gesendet haben. Er öffnet nichts.',
    another: 'Noch ein Geheimnis senden',
    inBrowser: {
      brokenLink:
        'Der Link ist unvollständig: Der Schlüssel hinter dem # fehlt oder ist falsch. Öffnen Sie den vollständigen Link oder lassen Sie ihn sich noch einmal schicken.',
      outdated:
        'Dieser Browser kann nicht ver- und entschlüsseln. Aktualisieren Sie ihn oder öffnen Sie den Link in einem anderen.',
      unloaded: 'Ein Teil dieser Seite konnte nicht geladen werden. Laden Sie die Seite neu.',
      encrypting: 'Wird verschlüsselt …',
      sending: 'Wird gesendet …',
      failed: 'Der Browser konnte das nicht verschlüsseln.',
      noRoom:
        'Wer anfragt, hat keinen Platz mehr für das, was gesendet wird. Sagen Sie es der Person und versuchen Sie es später noch einmal.',
    },

    title: 'Meine Anfragen',
    intro:
      'Bitten Sie jemanden um ein Geheimnis, etwa ein Passwort oder eine Schlüsseldatei. Dafür braucht niemand ein Konto: Der Browser der anderen Person verschlüsselt das Geheimnis, und nur Sie können es öffnen.',
    make: 'Um ein Geheimnis bitten',
    message: 'Worum Sie bitten (optional)',
    messageHint: 'Alle, die den Link haben, lesen das. Links und Adressen sind nicht erlaubt.',
    messageRefused: 'Lassen Sie Links und Adressen weg.',
    deposits: 'Wie viele Geheimnisse angenommen werden',
    submit: 'Anfrage erstellen',
    notMade:
      'Der Server hat nicht geantwortet. Versuchen Sie es noch einmal: Es entsteht keine zweite Anfrage.',
    listTitle: 'Ihre Anfragen',
    none: 'Sie haben noch keine Anfragen.',
    noMessage: 'Anfrage ohne Worte',
    states: { OPEN: 'offen', USED_UP: 'vollständig', CANCELLED: 'geschlossen', EXPIRED: 'abgelaufen' },
    arrived: (count: number, all: number) => `${count} von ${all} angekommen`,
    made: 'Erstellt',

    one: 'Anfrage nach einem Geheimnis',
    ownLink: 'Ihr eigener Link',
    save: 'Speichern Sie diesen Link: Ohne ihn kann niemand öffnen, was ankommt, auch nicht der Betreiber dieses Dienstes.',
    download: 'Link als Datei herunterladen',
    saved: 'Ich habe ihn gespeichert',
    askLink: 'Link für andere',
    pass: 'Senden Sie diesen Link an alle, die das Geheimnis haben. Er öffnet nichts.',
    passLater: 'Wenn Sie Ihren eigenen Link gespeichert haben, erscheint hier der Link für andere.',
    arrivedTitle: 'Was angekommen ist',
    nothing: 'Es ist noch nichts angekommen. Diese Seite zeigt, was ankommt, sobald es da ist.',
    nothingCame: 'Es ist nichts angekommen.',
    number: (number: number) => `Geheimnis ${number}`,
    open: 'Öffnen',
    openOne: (number: number) => `Geheimnis ${number} öffnen`,
    gone: 'nicht mehr da',
    deleteHint: 'Was angekommen ist, steht unter Ihren Pastes, wo Sie es löschen können:',
    withOwnLink:
      'Wenn es auf Ihre Anfrage hin gesendet wurde, öffnen Sie es mit Ihrem eigenen Link dieser Anfrage.',
    wrongKey:
      'Der Schlüssel in diesem Link öffnet das nicht: Er gehört zu einer anderen Anfrage, oder jemand hat geändert, was der Dienst speichert.',
    brokenOwn:
      'Dies ist nicht Ihr eigener Link dieser Anfrage: Was hinter dem # steht, ist keiner Ihrer Schlüssel.',
    lostTitle: 'Der Schlüssel fehlt',
    lost: 'Ihr eigener Link endet hinter dem # mit einem Schlüssel, und nur der öffnet, was ankommt. Fügen Sie den Link hier ein. Vielleicht finden Sie ihn im Verlauf Ihres Browsers oder in der Datei, die Sie heruntergeladen haben.',
    lostUse: 'Diesen Link verwenden',
    lostForEver:
      'Ist der Link verloren, kann niemand öffnen, was angekommen ist. Schließen Sie dann diese Anfrage, erstellen Sie eine neue und fragen Sie noch einmal.',
    cancel: 'Diese Anfrage schließen',
    cancelHint: 'Sie nimmt dann keine Geheimnisse mehr an. Was angekommen ist, bleibt.',
    cancelButton: 'Anfrage schließen',
  },
  webhooks: {
    title: 'Meine Webhooks',
    intro:
      'Ein Webhook meldet einem Ihrer Programme, was mit Ihren Pastes, Aufträgen und Anfragen geschieht: Der Dienst sendet jedes Ereignis signiert und ohne Inhalt an Ihre URL.',
    off: 'Webhooks sind ausgeschaltet: Der Betreiber dieses Dienstes hat sie nicht eingerichtet.',
    add: 'Webhook hinzufügen',
    url: 'URL Ihres Programms',
    urlHint: 'Sie beginnt mit https:// und ist aus dem Internet erreichbar.',
    urlProblems: {
      'is not a URL': 'Das ist keine URL.',
      'is too long': 'Die URL ist zu lang.',
      'has a user name or a password': 'Die URL darf weder Benutzernamen noch Passwort enthalten.',
      'has a fragment': 'Die URL darf kein # mit Text dahinter enthalten.',
      'is not https on port 443': 'Die URL muss mit https:// beginnen und darf keinen Port nennen.',
      'is not public': 'Diese Adresse ist aus dem Internet nicht erreichbar.',
    },
    events: 'Ereignisse',
    noEvents: 'Wählen Sie mindestens ein Ereignis.',
    eventNames: {
      'paste.stored': 'Paste gespeichert',
      'paste.failed': 'Upload fehlgeschlagen',
      'paste.read': 'Paste gelesen',
      'paste.deleted': 'Paste gelöscht',
      'paste.expired': 'Paste abgelaufen',
      'deposit.arrived': 'Geheimnis angekommen',
      'job.ended': 'Auftrag beendet',
    },
    eventHints: {
      'paste.stored': 'Der Inhalt liegt im Speicher.',
      'paste.failed': 'Der Speicher hat den Inhalt nicht angenommen.',
      'paste.read': 'Jemand hat ein Paste gelesen, das beim Lesen gelöscht wird.',
      'paste.deleted': 'Sie oder der Betreiber haben es gelöscht.',
      'paste.expired': 'Seine Zeit ist um.',
      'deposit.arrived': 'Jemand hat auf eine Ihrer Anfragen geantwortet.',
      'job.ended': 'Ein Import oder Export ist fertig oder fehlgeschlagen.',
    },
    submit: 'Webhook hinzufügen',
    full: (count: number) =>
      `Sie haben ${count} Webhooks, mehr sind nicht möglich. Entfernen Sie einen, um einen anderen hinzuzufügen.`,
    listTitle: 'Ihre Webhooks',
    none: 'Sie haben noch keine Webhooks.',
    states: { on: 'ein', failing: 'gestört', off: 'aus' },
    added: 'Hinzugefügt:',
    made: 'Der Webhook ist hinzugefügt',
    changed: 'Der Signaturschlüssel ist geändert',
    secret: 'Signaturschlüssel',
    secretHint:
      'Kopieren Sie ihn jetzt: Er wird nicht noch einmal angezeigt. Mit ihm und einer Bibliothek für Standard Webhooks (standardwebhooks.com) prüft Ihr Programm, ob eine Zustellung von diesem Dienst kommt.',
    changedHint: '24 Stunden lang sind Zustellungen auch mit dem vorigen Schlüssel signiert.',

    one: 'Webhook',
    failingSince: 'gestört seit:',
    failingHint:
      'Seitdem ist keine Zustellung gelungen. Nach drei Tagen ohne Erfolg wird der Webhook ausgeschaltet.',
    offSince: 'ausgeschaltet:',
    offFor: {
      gone: 'Ihr Programm hat mit dem Status 410 geantwortet, dass es die URL nicht mehr gibt. Deshalb wurde der Webhook ausgeschaltet.',
      failing: 'Drei Tage lang ist keine Zustellung gelungen. Deshalb wurde der Webhook ausgeschaltet.',
      operator: 'Der Betreiber dieses Dienstes hat den Webhook ausgeschaltet. Nur er kann sagen, warum.',
    },
    switchOn: 'Einschalten',
    switchOnHint: 'Was geschah, während er aus war, wird nicht gesendet.',
    deliveries: 'Zustellungen',
    noDeliveries: 'Es gibt noch keine Zustellungen.',
    deliveryStates: { WAITING: 'wartet', DELIVERED: 'zugestellt', FAILED: 'fehlgeschlagen' },
    subjects: { short_code: 'Paste', job_id: 'Auftrag', request_id: 'Anfrage' },
    attempt: (number: number, all: number) => `Versuch ${number} von ${all}`,
    next: 'nächster Versuch:',
    answered: (status: number) => `Antwort: ${status}`,
    again: 'erneut gesendet',
    sendAgain: 'Erneut senden',
    sendOneAgain: (event: string, time: string) => `Erneut senden: ${event}, ${time}`,
    change: 'Signaturschlüssel ändern',
    changeHint:
      'Der neue Schlüssel wird einmal angezeigt. 24 Stunden lang sind Zustellungen mit dem neuen und dem vorigen signiert, damit Ihr Programm umstellen kann. Ein noch älterer gilt sofort nicht mehr.',
    changeButton: 'Neuen Schlüssel erstellen',
    remove: 'Diesen Webhook entfernen',
    removeHint: 'An seine URL wird nichts mehr gesendet. Auch seine Zustellungen werden entfernt.',
    removeButton: 'Webhook entfernen',
  },
  mySessions: {
    title: 'Meine Sitzungen',
    intro:
      'In diesen Browsern sind Sie angemeldet. Eine Sitzung dauert höchstens 12 Stunden und endet, wenn das Token ungültig wird, mit dem sie begonnen hat. Nach einer Einladung dauert sie höchstens 30 Tage.',
    byToken: 'Mit dem Token',
    byProvider: (host: string | null) => (host === null ? 'Über den Identitätsanbieter' : `Über ${host}`),
    byInvitation: 'Über eine Einladung',
    otherDevice:
      'Um sich auf einem weiteren Gerät anzumelden, erstellen Sie ein Token und geben Sie es dort ein.',
    begun: 'Beginn:',
    lastUsed: 'zuletzt verwendet:',
    ends: 'Ende:',
    endButton: 'Beenden',
    endOne: (begun: string) => `Sitzung beenden, Beginn: ${begun}`,
    thisBrowser: 'Dieser Browser',
    endOthers: 'Alle anderen Sitzungen beenden',
  },
  myTokens: {
    title: 'Meine Tokens',
    intro:
      'Mit einem Token handeln Programme in Ihrem Namen. Wenn ein Token ungültig wird, werden auch die Tokens ungültig, die damit erstellt wurden, und die Sitzungen enden, die damit begonnen haben.',
    none: 'Sie haben keine Tokens.',
    make: 'Token erstellen',
    name: 'Name',
    nameHint: 'Zum Beispiel der Rechner, auf dem Sie es verwenden.',
    scope: 'Es darf',
    scopes: {
      full: 'alles, auch Tokens erstellen',
      write: 'lesen und schreiben',
      read: 'nur lesen',
    },
    expiry: 'Gültig für',
    expiries: { 604800: '1 Woche', 2592000: '30 Tage', 7776000: '90 Tage', 31536000: '1 Jahr' },
    submit: 'Token erstellen',
    made: (name: string) => `Das Token ${name} ist erstellt`,
    secret: 'Token',
    secretHint:
      'Kopieren Sie es jetzt: Es wird nicht noch einmal angezeigt. Wer es hat, kann in Ihrem Namen handeln.',
    cannotMake: 'Nur der Betreiber dieses Dienstes erstellt Tokens.',
    notFull:
      'Sie haben sich mit einem Token angemeldet, das Sie selbst erstellt haben. Um Tokens zu erstellen oder zu widerrufen, melden Sie sich mit einem Token vom Betreiber oder über den Identitätsanbieter an.',
    created: 'Erstellt:',
    lastUsed: 'zuletzt verwendet:',
    neverUsed: 'nie verwendet',
    expires: 'Ablauf:',
    neverExpires: 'läuft nie ab',
    revoke: 'Widerrufen',
    revokeOne: (name: string) => `Token ${name} widerrufen`,
  },
  person: { as: (name: string, host: string) => `${name}, laut ${host}` },
  myAccount: {
    title: 'Mein Konto',
    exportTitle: 'Ihre Pastes mitnehmen',
    exportHint:
      'Ein Auftrag packt alle Ihre Pastes in ein oder mehrere Archive. Laden Sie alle herunter, bevor Sie alles löschen.',
    eraseTitle: 'Alles löschen',
    eraseHint:
      'Damit löschen Sie Ihre Pastes, Aufträge, Archive, Tokens, Webhooks und Sitzungen sowie Ihren Namen für immer. Niemand kann sie zurückholen.',
    notFull:
      'Sie haben sich mit einem Token angemeldet, das Sie selbst erstellt haben. Um alles zu löschen, melden Sie sich mit einem Token vom Betreiber oder über den Identitätsanbieter an.',
    nameField: 'Ihr Name',
    nameHint: 'Geben Sie ihn zur Bestätigung genau so ein:',
    nameError: 'Das ist nicht Ihr Name. Es wurde nichts gelöscht.',
    erase: 'Alles löschen',
    erased: 'Ihr Konto ist gelöscht',
    erasedHint:
      'Ihre Tokens und Sitzungen sind beendet. Ihre Pastes und Aufträge werden innerhalb weniger Minuten gelöscht.',
    goOn: 'Ohne Anmeldung fortfahren',
  },
  signIn: {
    title: 'Anmelden',
    link: 'Anmelden',
    signedInAs: 'Angemeldet als',
    signOut: 'Abmelden',
    intro:
      'Sie sehen dann Ihre eigenen Pastes und Aufträge, und die Pastes, die Sie hier erstellen, gehören Ihnen.',
    token: 'API-Token',
    tokenHint:
      'Ein Token erhalten Sie vom Betreiber dieses Dienstes, oder Sie erstellen eines unter „Meine Tokens“. Sie bleiben angemeldet, bis Sie sich abmelden oder den Browser schließen, höchstens aber 12 Stunden.',
    invitationHint:
      'Ohne Token bitten Sie den Betreiber um eine Einladung: einen Link, der Sie anmeldet. Eine Einladung beendet die Sitzung, die eine frühere begonnen hat.',
    submit: 'Anmelden',
    without: 'Ohne Anmeldung fortfahren',
    byProvider: (host: string) => `Mit ${host} anmelden`,
    orToken: 'Oder melden Sie sich mit einem Token an.',
    onlyReads:
      'Sie sind mit einem Token angemeldet, das nur lesen darf, und können hier nichts senden. Melden Sie sich ab oder mit einem anderen Token an, und öffnen Sie diese Seite noch einmal.',
    done: 'Sie sind angemeldet',
    goOn: 'Weiter',
  },
  invitation: {
    title: 'Sie sind eingeladen',
    intro: (name: string) =>
      `Dieser Link meldet diesen Browser für 30 Tage als ${name} an. Er gilt einmal: Verwenden Sie ihn auf dem Gerät, auf dem Sie angemeldet bleiben wollen. Wer in diesem Browser jetzt angemeldet ist, wird abgemeldet.`,
    accept: 'Auf diesem Gerät anmelden',
    accepted: (name: string) => `Dieser Browser ist für 30 Tage als ${name} angemeldet.`,
    another:
      'Wenn Sie dieses Gerät verloren oder sich abgemeldet haben, bitten Sie den Betreiber um eine neue Einladung. Sie beendet diese Sitzung.',
  },

  members: {
    arrival: 'Einen Moment',
    arrivalWhy:
      'Eine andere Website hat hierher geführt. Diese Seite geht von selbst weiter, damit Ihr Browser mitteilen kann, ob Sie angemeldet sind.',
    arrivalAsks:
      'Eine andere Website hat hierher geführt. Klicken Sie auf „Weiter“, damit Ihr Browser mitteilen kann, ob Sie angemeldet sind.',
  },

  problem: {
    correct: 'Korrigieren Sie dies und senden Sie das Formular noch einmal:',
    unknownPage: {
      title: 'Seite nicht gefunden',
      detail: 'Unter dieser Adresse gibt es keine Seite. Prüfen Sie die URL.',
    },
    failedTitle: 'Der Upload dieses Pastes ist fehlgeschlagen',
    failedDetail:
      'Der Speicher hat den Text nicht angenommen, und es folgen keine weiteren Versuche: Unter dieser Adresse gibt es nichts anzuzeigen. Im Verlauf steht, wann und warum.',
    failedHelp:
      'Der Betreiber dieses Dienstes kann den Upload innerhalb von 24 Stunden wiederholen; das Paste erscheint dann hier. Oder erstellen Sie das Paste noch einmal.',
    back: 'Neues Paste erstellen',
    timeline: 'Verlauf anzeigen',
    signIn: 'Anmelden, falls es nicht für alle lesbar ist',
    requestId: 'Anfrage-ID',
    of: {
      invalid_transition: {
        title: 'Konflikt mit dem aktuellen Status',
        detail:
          'Der aktuelle Status lässt diese Aktion nicht zu. Laden Sie die Seite neu und prüfen Sie ihn.',
      },
      short_code_taken: {
        title: 'Kein freier Kurzcode gefunden',
        detail: 'Es wurde kein freier Kurzcode gefunden. Versuchen Sie es gleich noch einmal.',
      },
      slug_taken: {
        title: 'Name im Link vergeben',
        detail: 'Ein anderes Paste hat diesen Namen im Link. Wählen Sie einen anderen Namen.',
      },
      slug_limit_reached: {
        title: 'Zu viele Namen im Link',
        detail:
          'Sie haben schon so viele Pastes mit einem Namen im Link, wie erlaubt sind. Erstellen Sie dieses Paste ohne Namen im Link. Ein gelöschtes Paste zählt, bis sein Name frei ist.',
      },
      slug_moved: {
        title: 'Name im Link verweist auf ein anderes Paste',
        detail:
          'Der Name im Link verweist inzwischen auf ein anderes Paste. Sehen Sie sich dieses an, und stellen Sie den Namen von dort aus um, wenn Sie das noch möchten.',
      },
      slug_move_refused: {
        title: 'Name im Link nicht umgestellt',
        detail:
          'Der Name im Link wurde nicht umgestellt, weil eines der Pastes das nicht zulässt. Wählen Sie ein anderes Paste oder erstellen Sie eine neue Version.',
      },
      paste_not_found: {
        title: 'Paste nicht gefunden',
        detail:
          'Unter dieser Adresse gibt es kein Paste, oder sein Upload ist fehlgeschlagen. Prüfen Sie die URL.',
      },
      paste_gone: {
        title: 'Paste abgelaufen oder gelöscht',
        detail:
          'Das Paste ist abgelaufen, wurde gelöscht oder war nur einmal lesbar und wurde schon gelesen. Es lässt sich nicht wiederherstellen.',
      },
      paste_taken_down: {
        title: 'Paste gesperrt',
        detail: 'Der Betreiber dieses Dienstes hat das Paste gesperrt.',
      },
      paste_held: {
        title: 'Paste vorläufig gesperrt',
        detail:
          'Das Paste wurde vielfach gemeldet. Es lässt sich nicht lesen, bis ein Betreiber dieses Dienstes es geprüft hat.',
      },
      paste_in_progress: {
        title: 'Paste noch nicht gespeichert',
        detail: 'Der Upload des Pastes läuft noch. Versuchen Sie es gleich noch einmal.',
      },
      parent_not_found: {
        title: 'Ursprüngliches Paste nicht gefunden',
        detail:
          'Sie können das ursprüngliche Paste nicht lesen: Es existiert nicht, ist abgelaufen, wurde gelöscht oder wird beim Lesen gelöscht. Korrigieren Sie den Kurzcode, oder senden Sie das neue Paste ohne ihn.',
      },
      superseded: {
        title: 'Das Paste hat eine neuere Version',
        detail:
          'Jemand hat inzwischen eine neuere Version dieses Pastes gespeichert. Sehen Sie sich diese an, und bearbeiten Sie sie, wenn Sie das noch möchten.',
      },
      file_not_found: {
        title: 'Keine solche Datei im Paste',
        detail: 'Das Paste hat keine Datei mit diesem Namen. Seine Seite zeigt die Dateien, die es hat.',
      },
      not_several_files: {
        title: 'Paste hat keine Dateien',
        detail:
          'Dieses Paste ist ein einzelner Text oder eine einzelne Datei, ohne Namen von Dateien. Öffnen Sie es ohne den Zusatz in der Adresse.',
      },
      no_diff: {
        title: 'Kein Vergleich für dieses Paste',
        detail:
          'Es gibt nichts zu vergleichen: Das Paste basiert auf keinem anderen, eines der beiden gibt es nicht mehr, oder Sie können es nicht lesen.',
      },
      diff_unavailable: {
        title: 'Pastes werden nicht verglichen',
        detail:
          'Der Server vergleicht diese Pastes nicht, weil eines davon verschlüsselt oder zu groß ist oder weil sie sich zu stark unterscheiden. Lesen Sie beide und vergleichen Sie sie selbst.',
      },
      report_settled: {
        title: 'Über Meldungen wurde schon entschieden',
        detail:
          'Ein Betreiber hat Meldungen zu diesem Inhalt geprüft und entschieden, dass er bleibt. Ihre Meldung wurde nicht aufgenommen.',
      },
      request_not_found: {
        title: 'Anfrage nicht gefunden',
        detail: 'Unter dieser Adresse gibt es keine Anfrage. Prüfen Sie den Link.',
      },
      request_closed: {
        title: 'Anfrage nimmt nichts mehr an',
        detail:
          'Diese Anfrage ist abgelaufen oder wurde geschlossen. Bitten Sie die Person, von der Sie den Link haben, um einen neuen.',
      },
      request_used_up: {
        title: 'Anfrage ist erfüllt',
        detail:
          'Diese Anfrage hat alles erhalten, was sie annimmt. Bitten Sie die Person, von der Sie den Link haben, um einen neuen.',
      },
      request_ended: {
        title: 'Anfrage ist beendet',
        detail: 'Die Anfrage hat alles erhalten, was sie annimmt. Es gibt nichts abzubrechen.',
      },
      request_limit_reached: {
        title: 'Zu viele offene Anfragen',
        detail:
          'Sie haben so viele offene Anfragen, wie erlaubt sind. Brechen Sie eine ab, oder warten Sie, bis eine abgelaufen ist.',
      },
      reveal_required: {
        title: 'Paste wird beim Lesen gelöscht',
        detail:
          'Dieses Paste lässt sich nur einmal lesen und wird dabei gelöscht. Öffnen Sie seinen Link, um den Text anzuzeigen.',
      },
      nothing_to_reveal: {
        title: 'Paste wird beim Lesen nicht gelöscht',
        detail: 'Dieses Paste bleibt nach dem Lesen erhalten. Öffnen Sie es über seinen Link.',
      },
      job_not_found: {
        title: 'Auftrag nicht gefunden',
        detail: 'Es gibt keinen Auftrag mit dieser ID. Prüfen Sie die URL.',
      },
      job_forbidden: {
        title: 'Auftrag eines anderen Benutzers',
        detail: 'Dieser Auftrag gehört einem anderen Benutzer. Verwenden Sie ein Token seines Eigentümers.',
      },
      job_ended: {
        title: 'Auftrag ist beendet',
        detail: 'Dieser Auftrag ist schon beendet. Es gibt nichts mehr abzubrechen.',
      },
      job_not_retryable: {
        title: 'Auftrag wird nicht wiederholt',
        detail:
          'Nur fehlgeschlagene und teilweise erledigte Aufträge lassen sich wiederholen, jeder nur einmal und nur, solange es seine Inhalte gibt. Wenn dieser schon wiederholt wurde, wiederholen Sie den neueren; sonst erstellen Sie einen neuen.',
      },
      execution_taken: {
        title: 'Interner Fehler',
        detail: 'Ein anderer Prozess hat diese Ausführung beendet. Die Arbeit daran muss enden.',
      },
      idempotency_key_reused: {
        title: 'Idempotency-Key wiederverwendet',
        detail:
          'Dieser Idempotency-Key wurde schon mit einer anderen Anfrage gesendet. Senden Sie mit jeder neuen Anfrage einen neuen.',
      },
      idempotency_key_in_use: {
        title: 'Idempotency-Key in Gebrauch',
        detail:
          'Eine Anfrage mit diesem Idempotency-Key wird noch bearbeitet. Senden Sie die Anfrage später noch einmal.',
      },
      rate_limited: {
        title: 'Zu viele Anfragen',
        detail:
          'Sie haben in kurzer Zeit oder gleichzeitig zu viel gesendet oder angefordert. Versuchen Sie es später noch einmal.',
      },
      quota_exceeded: {
        title: 'Kontingent aufgebraucht',
        detail:
          'Dieses Paste würde Ihr Kontingent überschreiten. Löschen Sie Pastes und versuchen Sie es noch einmal. Ein gelöschtes Paste zählt, bis kurz darauf sein Inhalt entfernt ist.',
      },
      storage_full: {
        title: 'Speicher voll',
        detail:
          'Dieser Dienst hat keinen Platz für das Paste. Wenden Sie sich an den Betreiber oder versuchen Sie es später noch einmal.',
      },
      content_empty: {
        title: 'Inhalt ist leer',
        detail: 'Geben Sie einen Text ein oder wählen Sie eine Datei aus, die nicht leer ist.',
      },
      content_too_large: {
        title: 'Inhalt zu groß',
        detail: 'Der Inhalt ist größer als erlaubt. Senden Sie einen kürzeren Text oder eine kleinere Datei.',
      },
      content_blocked: {
        title: 'Inhalt gesperrt',
        detail:
          'Der Betreiber dieses Dienstes hat diesen Inhalt gesperrt, deshalb wurde kein Paste erstellt. Senden Sie ihn nicht noch einmal.',
      },
      malformed_request: {
        title: 'Fehlerhafte Anfrage',
        detail:
          'Der Server kann die Anfrage in dieser Form nicht bearbeiten. Korrigieren Sie die Anfrage und senden Sie sie noch einmal.',
      },
      validation_failed: {
        title: 'Ungültige Angaben',
        detail: 'Korrigieren Sie die unten genannten Felder und senden Sie die Angaben noch einmal.',
      },
      unsupported_media_type: {
        title: 'Medientyp nicht unterstützt',
        detail:
          'Der Server nimmt den Content-Type der Anfrage hier nicht an. Senden Sie die Anfrage in einem Format, das er annimmt.',
      },
      unsupported_encoding: {
        title: 'Kodierung des Inhalts nicht unterstützt',
        detail:
          'Der Server nimmt die Kodierung des Inhalts nicht an. Senden Sie den Inhalt ohne Content-Encoding und mit keinem Transfer-Encoding außer chunked.',
      },
      request_timeout: {
        title: 'Zeitüberschreitung der Anfrage',
        detail: 'Die Anfrage kam zu langsam an. Senden Sie sie noch einmal über eine schnellere Verbindung.',
      },
      request_incomplete: {
        title: 'Anfrage unvollständig',
        detail: 'Die Anfrage brach ab, bevor sie vollständig war. Senden Sie sie noch einmal.',
      },
      request_headers_too_large: {
        title: 'Header der Anfrage zu groß',
        detail:
          'Die URL oder die Header sind zu lang. Senden Sie eine kürzere URL und weniger oder kürzere Header.',
      },
      unauthorized: {
        title: 'Nicht berechtigt',
        detail:
          'Dafür brauchen Sie eine Anmeldung, ein gültiges Token oder den Löschcode. Melden Sie sich an, oder prüfen Sie Ihre Eingabe.',
      },
      insufficient_scope: {
        title: 'Mit diesem Token nicht erlaubt',
        detail:
          'Ihr Token erlaubt diese Aktion nicht. Verwenden Sie ein anderes, oder wenden Sie sich an den Betreiber dieses Dienstes.',
      },
      invitation_not_found: {
        title: 'Einladung nicht gefunden',
        detail:
          'Es gibt keine Einladung mit diesem Link. Prüfen Sie, ob er vollständig ist. Wo ein Identitätsanbieter anmeldet, gelten keine Einladungen.',
      },
      invitation_ended: {
        title: 'Einladung gilt nicht mehr',
        detail:
          'Diese Einladung wurde schon verwendet, ist abgelaufen oder durch eine neue ersetzt. Bitten Sie den Betreiber um eine weitere.',
      },
      token_not_found: {
        title: 'Token nicht gefunden',
        detail:
          'Sie haben kein Token mit dieser ID, oder es wurde schon widerrufen. Sehen Sie in der Liste Ihrer Tokens nach.',
      },
      token_limit_reached: {
        title: 'Zu viele Tokens',
        detail:
          'Sie haben schon so viele gültige Tokens, wie erlaubt sind. Widerrufen Sie eines, das Sie nicht mehr brauchen.',
      },
      webhook_not_found: {
        title: 'Webhook nicht gefunden',
        detail:
          'Sie haben keinen Webhook mit dieser ID, oder er wurde entfernt. Sehen Sie in der Liste Ihrer Webhooks nach.',
      },
      webhook_limit_reached: {
        title: 'Zu viele Webhooks',
        detail:
          'Sie haben schon so viele Webhooks, wie erlaubt sind. Entfernen Sie einen, den Sie nicht mehr brauchen.',
      },
      webhooks_off: {
        title: 'Keine Webhooks',
        detail: 'Dieser Dienst sendet keine Webhooks: Der Betreiber hat sie nicht eingerichtet.',
      },
      webhook_switched_off: {
        title: 'Webhook vom Betreiber ausgeschaltet',
        detail:
          'Der Betreiber dieses Dienstes hat den Webhook ausgeschaltet. Fragen Sie ihn, oder entfernen Sie den Webhook.',
      },
      webhook_off: {
        title: 'Webhook ist ausgeschaltet',
        detail: 'Dieser Webhook ist ausgeschaltet. Schalten Sie ihn zuerst ein.',
      },
      delivery_not_found: {
        title: 'Zustellung nicht gefunden',
        detail:
          'Dieser Webhook hat keine Zustellung mit dieser ID, oder sie wurde wegen ihres Alters entfernt.',
      },
      delivery_waiting: {
        title: 'Ereignis wartet schon',
        detail: 'Dieses Ereignis wartet schon darauf, an den Webhook gesendet zu werden.',
      },
      cross_site_request: {
        title: 'Von einer anderen Website gesendet',
        detail:
          'Das Formular wurde nicht von einer Seite dieses Dienstes gesendet, oder der Browser gibt nicht an, woher es kommt. Öffnen Sie die Seite dieses Dienstes über https in einem aktuellen Browser und versuchen Sie es noch einmal.',
      },
      user_changed: {
        title: 'Inzwischen ist jemand anderes angemeldet',
        detail:
          'Seit diese Seite geöffnet wurde, haben Sie sich an- oder abgemeldet. Es wurde nichts getan. Öffnen Sie die Seite noch einmal und prüfen Sie, wer angemeldet ist.',
      },
      route_not_found: {
        title: 'Adresse nicht gefunden',
        detail: 'Dieser Dienst bietet unter dieser Adresse nichts an. Prüfen Sie die URL.',
      },
      method_not_allowed: {
        title: 'Methode nicht erlaubt',
        detail:
          'Diese Adresse nimmt nur an, was ein Formular sendet. Gehen Sie zurück zur Seite des Formulars.',
      },
      range_not_satisfiable: {
        title: 'Bereich nicht verfügbar',
        detail:
          'Der angeforderte Bereich liegt außerhalb des Inhalts. Fordern Sie einen an, der darin liegt.',
      },
      precondition_failed: {
        title: 'Vorbedingung nicht erfüllt',
        detail:
          'Das ETag des Inhalts stimmt nicht mit If-Match überein. Lesen Sie das aktuelle ETag und versuchen Sie es noch einmal.',
      },
      stream_unavailable: {
        title: 'Zu viele wartende Clients',
        detail: 'Zurzeit warten zu viele Clients. Versuchen Sie es gleich noch einmal.',
      },
      overloaded: {
        title: 'Zu viele Daten gleichzeitig',
        detail: 'Zurzeit werden zu viele Daten gleichzeitig übertragen. Versuchen Sie es später noch einmal.',
      },
      dependency_unavailable: {
        title: 'Vorübergehend nicht verfügbar',
        detail:
          'Ein Teil dieses Dienstes ist zurzeit nicht verfügbar. Versuchen Sie es in Kürze noch einmal.',
      },
      malformed_message: {
        title: 'Interner Fehler',
        detail: 'Eine interne Nachricht hat nicht die richtige Form.',
      },
      internal: {
        title: 'Interner Fehler',
        detail:
          'Auf dem Server ist ein Fehler aufgetreten. Versuchen Sie es noch einmal; wenn der Fehler bestehen bleibt, nennen Sie dem Betreiber die Anfrage-ID.',
      },
    },
  },
};
