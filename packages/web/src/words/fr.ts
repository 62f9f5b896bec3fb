// « paste » (masculin) : le texte ou le fichier partagé.
import { pluralsIn } from './plurals.ts';
import type { Translation } from './translation.ts';

const plural = pluralsIn<'one' | 'many' | 'other'>('fr');

export const fr: Translation = {
  locale: 'fr',
  name: 'Français',
  direction: 'ltr',
  choice: 'Langue des pages',
  units: { kib: 'Kio', mib: 'Mio', gib: 'Gio' },
  back: (page: string) => `← ${page}`,
  skipToContent: 'Aller au contenu',
  navigation: 'Pages',
  newPaste: 'Nouveau paste',
  newPasteShort: 'Nouveau',
  newPasteRest: ' paste',
  documentation: 'API',
  list: {
    filter: 'Filtrer',
    pages: 'Pages de la liste',
    first: 'Début de la liste',
    next: 'Page suivante →',
  },
  intro: (house: string) =>
    `${house} conserve un texte ou un fichier aussi longtemps que vous le souhaitez et vous donne un lien court pour le partager.`,
  houseLinks: { imprint: 'Mentions légales', privacy: 'Confidentialité', terms: 'Conditions d’utilisation' },
  reportAbuse: 'Signaler un abus',

  themes: {
    auto: 'Couleurs : système',
    light: 'Couleurs : claires',
    dark: 'Couleurs : sombres',
  },
  keys: {
    title: 'Raccourcis clavier',
    option: 'Utiliser ces raccourcis',
    close: 'Fermer',
  },

  form: {
    title: 'Nouveau paste',
    content: 'Texte',
    placeholder: 'Collez ou saisissez un texte ici.',
    contentHint:
      'Ctrl+Entrée crée le paste. Tab ajoute un retrait ; Échap puis Tab permet de quitter le texte. Vous pouvez déposer des fichiers n’importe où sur la page.',
    file: 'Ou des fichiers',
    addFile: 'Ajouter un fichier',
    fileName: 'Nom du fichier',
    atMost: (size: string) => `${size} au maximum.`,
    labels: {
      title: 'Titre (facultatif)',
      syntax: 'Langage',
      expires_in: 'Expiration',
      visibility: 'Qui peut le lire',
      burn: 'Supprimer le paste à la première lecture',
      slug: 'Nom dans le lien (facultatif)',
    },
    hints: {
      burn: 'Le lien affiche un bouton. La première personne qui appuie dessus lit le texte, et plus personne ne peut le lire ensuite.',
      slug: 'De 3 à 64 lettres minuscules, chiffres et traits d’union, sans trait d’union au début ni à la fin : le lien se termine alors par ~name.',
    },
    choices: {
      visibility: {
        unlisted: 'Toute personne qui a le lien',
        members: 'Toute personne connectée qui a le lien',
        private: 'Vous uniquement',
      },
    },
    detectSyntax: 'Détection automatique',
    detectedSyntax: 'Détecté : {name}',
    expiries: {
      3600: '1 heure',
      86400: '1 jour',
      604800: '1 semaine',
      2592000: '30 jours',
      31536000: '1 an',
      never: 'Jamais',
    },
    expiresAfter: (time: string) => time,
    burnOnly: 'Sans vous connecter, vous ne pouvez créer que des pastes supprimés à la première lecture.',
    closed: 'Pour créer des pastes ici, connectez-vous. Pour en lire un, son lien suffit.',
    slugRefused: (reason: string) => `Ce nom est refusé : ${reason}`,
    removeFile: 'Retirer',
    removeNamed: (name: string) => `Retirer ${name}`,
    bothWithoutScript:
      'Le formulaire contenait un texte et un fichier, mais un paste est l’un ou l’autre. Voici le texte : créez le paste, ou effacez le texte et choisissez de nouveau le fichier.',
    several: {
      each: 'Un paste par fichier',
      created: 'Pastes créés : {count}',
      refused: 'Non créés',
      copyAll: 'Copier tous les liens',
    },
    fileAgain: 'Si vous aviez choisi des fichiers, choisissez-les de nouveau.',
    more: 'Plus d’options',
    submit: 'Créer le paste',
    privacy: 'Toute personne qui a le lien peut lire le paste.',
    empty: 'Saisissez un texte ou choisissez un fichier.',
    unreachable: 'Le serveur n’a pas répondu. Votre texte est toujours là : réessayez.',
    userChanged:
      'Vous vous êtes connecté ou déconnecté depuis l’ouverture de ce formulaire. Rien n’a été créé.',
    createAs: (name: string) => `Créer en tant que ${name}`,
    createAsNobody: 'Créer sans se connecter',
  },

  secret: {
    doorsLabel: 'Ce que vous créez',
    doors: { text: 'Texte', secret: 'Secret' },
    title: 'Nouveau secret',
    intro: 'Un secret est destiné à une seule personne : son lien l’affiche une fois, puis il est supprimé.',
    placeholder: 'Collez ou saisissez ici un mot de passe, une clé ou un autre secret.',
    submit: 'Créer le lien secret',
    submitPlain: 'Créer sans chiffrement',
    insecure:
      'Cette page n’a pas été chargée en https : les navigateurs ne chiffrent alors rien, et d’autres peuvent lire ce qui est envoyé. Ouvrez-la en https ou utilisez la commande pasteflow put --secret.',
    needsScript:
      'Cette page ne chiffre qu’avec JavaScript. Activez JavaScript et rechargez la page, ou utilisez la commande pasteflow put --secret.',
    unencrypted:
      'Même sans chiffrement, vous pouvez créer un secret qui est supprimé à la lecture, mais jusque-là le service peut le lire.',
    next: 'Copiez le lien et envoyez-le à une seule personne. Il n’affiche d’abord qu’un bouton : la première personne qui appuie dessus lit le secret.',
  },

  created: {
    title: 'Paste créé',
    link: 'Lien vers le paste',
    deleteToken: 'Jeton de suppression',
    deleteTokenHint: 'Toute personne qui a ce jeton peut supprimer le paste. Il n’est affiché qu’ici.',
    kept: 'Ce navigateur conserve les jetons de suppression de vos pastes, pour que vous puissiez supprimer ces pastes depuis leurs pages. Sur un ordinateur partagé :',
    forget: 'Effacer les jetons de ce navigateur',
    forgotten: 'Les jetons sont effacés. Copiez celui-ci pour le conserver.',
    readers: {
      unlisted: 'toute personne qui a le lien peut le lire',
      members: 'seules les personnes connectées peuvent le lire',
      private: 'personne d’autre que vous ne peut le lire',
    },
    readOnce: 'la première personne à le lire le supprime',
    open: 'Ouvrir le paste',
    another: 'En créer un autre',
    copy: 'Copier',
    copyLink: 'Copier le lien',
    copied: 'Copié',
    notCopied: 'Échec',
    keyHint:
      'La clé fait partie du lien, et seule cette page la connaît : sans le lien complet, personne ne peut lire le paste.',
  },

  paste: {
    untitled: 'Paste sans titre',
    plainText: 'Texte simple',
    files: (count: number) => plural(count, { one: '# fichier', many: '# de fichiers', other: '# fichiers' }),
    andOthers: (count: number) =>
      plural(count, { one: 'et # autre', many: 'et # d’autres', other: 'et # autres' }),
    fileList: 'Fichiers',
    file: 'Fichier',
    downloadAll: 'Tout télécharger',
    emptyFile: 'Ce fichier est vide.',
    badges: { members: 'Pour les membres', private: 'Privé', burn: 'Lecture unique', encrypted: 'Chiffré' },
    language: 'Langage',
    created: 'Création',
    expiresLine: 'expiration :',
    neverExpiresLine: 'n’expire jamais',
    upload: 'Envoi',
    uploadStates: { IN_PROGRESS: 'en cours', PROCESSED: 'terminé', FAILED: 'en échec' },
    timeline: 'Chronologie',
    raw: 'Brut',
    download: 'Télécharger',
    copy: 'Copier le texte',
    copied: 'Copié',
    copyFailed: 'Non copié',
    copyLink: 'Copier le lien',
    share: 'Partager',
    copyLines: 'Copier le lien vers les lignes',
    copyMarkdown: 'Copier en Markdown',
    more: 'Plus',
    show: 'Afficher',
    wrap: 'Retour à la ligne',
    tabSize: 'Largeur des tabulations',
    tabSizeAuto: 'Selon le langage',
    qr: 'Code QR',
    qrOf: (url: string) => `Code QR de ${url}`,
    fork: 'Créer une variante',
    edit: 'Modifier',
    editWithToken: 'Modifier avec le jeton de suppression',
    changes: 'modifications',
    lines: 'Sélectionner des lignes',
    linesWrong: 'Indiquez une ligne, par exemple 12, ou plusieurs, par exemple 12-20.',
    lineSelected: 'La ligne {first} est sélectionnée.',
    linesSelected: 'Les lignes {first} à {last} sont sélectionnées.',
    lineMissing: 'La page ne contient pas toutes les lignes de {first} à {last}.',
    views: 'Affichage',
    source: 'Source',
    rendered: 'Rendu',
    rendering: 'Rendu du texte en cours…',
    notRendered: 'Ce texte est trop complexe pour le rendu. La page en affiche la source.',
    notLoaded: 'Le texte n’a pas pu être mis en forme. Rechargez la page pour réessayer.',
    needsScript: 'Rendu uniquement avec JavaScript',
    sourceOnly: (size: string) => `Au-delà de ${size}, le Markdown est affiché sous forme de source.`,
    image: 'Image',
    alerts: {
      note: 'Remarque',
      tip: 'Conseil',
      important: 'Important',
      warning: 'Avertissement',
      caution: 'Attention',
    },
    imageOf: (format: string) => `Image ${format}`,
    imageAlt: (paste: string) => `L’image « ${paste} »`,
    openImage: 'Ouvrir l’image',
    binary: 'Fichier binaire',
    binaryHint: 'Ce contenu n’est pas du texte : la page ne l’affiche pas.',
    asText: 'Afficher comme texte',
    content: 'Contenu du paste',
    inProgress: 'L’envoi de ce paste est en cours. La page affichera le texte dès qu’il sera enregistré.',
    notUtf8:
      'Certains octets de ce paste ne sont pas de l’UTF-8 et sont affichés sous la forme �. Le fichier téléchargé contient les octets exacts.',
    bidi: 'Ce texte contient des caractères qui changent le sens de l’écriture et peuvent ainsi cacher ce que lit un programme. La page affiche leurs codes à leur place, par exemple [U+202E].',
    longLines: (characters: string) =>
      `Les lignes de plus de ${characters} caractères sont renvoyées à la ligne sur cette page. Le fichier téléchargé contient le texte exact.`,
    cut: (lines: string) =>
      `La page affiche les ${lines} premières lignes. Le fichier téléchargé contient tout le texte.`,
    deleteTitle: 'Supprimer ce paste',
    deleteMenu: 'Supprimer',
    deleteHint: 'Le jeton de suppression a été affiché à la création du paste.',
    deleteToken: 'Jeton de suppression',
    deleteOwnHint: 'Ce paste est à vous. Un paste supprimé ne peut pas être restauré.',
    deleteButton: 'Supprimer définitivement',
    deleted: 'Paste supprimé',
    deletedText: 'Le paste est supprimé et ne peut pas être restauré.',
    rightAddress: {
      title: 'L’adresse contient %23 au lieu de #',
      text: 'Un programme, par exemple de messagerie, a modifié l’adresse. Cette page mène à la bonne adresse. Sans JavaScript, suivez le lien.',
    },
  },

  diff: {
    madeFrom: 'Créé à partir de',
    madeFromHint:
      'Les lecteurs du nouveau paste voient ce code. Ils peuvent ouvrir le paste d’origine, s’ils ont le droit de le lire, et voir ce que vous avez modifié.',
    parentMissing:
      'Vous ne pouvez plus lire le paste d’origine. Le formulaire ci-dessous ne le mentionne plus : envoyez-le de nouveau pour créer le nouveau paste.',
    notText: 'Le paste d’origine n’est pas du texte : son contenu n’est pas repris ici.',
    tooLong: (size: string) =>
      `Le paste d’origine dépasse ${size}. Son texte n’est repris ici qu’avec JavaScript.`,
    notFilled: 'Le texte du paste d’origine n’a pas pu être chargé. Rechargez la page pour réessayer.',
    title: (paste: string) => `Modifications : ${paste}`,
    heading: 'Modifications :',
    from: 'Avant',
    to: 'Après',
    by: { owner: 'par vous', other: 'par son propriétaire', token: 'anonyme' },
    rawOf: (code: string) => `Texte brut de ${code}`,
    lines: 'Lignes',
    counts: (added: string, removed: string) => `ajoutées : +${added}, supprimées : -${removed}`,
    hunk: (oldNumber: number, newNumber: number) =>
      `Modifications à partir de la ligne ${oldNumber} de l’ancien texte et de la ligne ${newNumber} du nouveau`,
    groups: { removed: 'Suppression', added: 'Ajout' },
    files: {
      changed: 'Modifié',
      added: 'Ajouté',
      removed: 'Supprimé',
      renamed: 'Renommé',
      before: 'Ancien nom :',
    },
    noNewline: 'Pas de saut de ligne à la fin',
    equal: 'Les textes sont identiques.',
    lineEnds:
      'Les textes ont des fins de ligne différentes (CR LF dans l’un, LF dans l’autre). Les lignes qui ne diffèrent que par là sont affichées comme identiques.',
    notUtf8:
      'Certains octets de ces textes ne sont pas de l’UTF-8 et sont affichés sous la forme �. Le patch contient les octets exacts.',
    command: 'Les modifications sous forme de patch, avec les octets exacts :',
  },

  change: {
    link: 'Modifier le titre ou l’expiration',
    title: (paste: string) => `Modifier le paste ${paste}`,
    intro: 'Le texte ne change pas. Les lecteurs voient les modifications aussitôt.',
    expires: 'Expiration',
    keep: 'Sans changement',
    save: 'Enregistrer',
    back: 'Retour au paste',
  },
  report: {
    link: 'Signaler',
    title: (paste: string) => `Signaler le paste ${paste}`,
    intro:
      'Les administrateurs de ce service lisent votre signalement et décident si le paste reste en ligne. Ils ne peuvent pas lire un paste chiffré : dites ce qu’il contient.',
    severalFiles:
      'Ce paste contient plusieurs fichiers, et votre signalement les concerne tous : dites de quel fichier il s’agit.',
    reason: 'Motif',
    reasons: {
      illegal: 'Contenu illégal',
      copyright: 'Atteinte au droit d’auteur',
      malware: 'Logiciel malveillant',
      phishing: 'Hameçonnage',
      personal_data: 'Données personnelles ou identifiants',
      spam: 'Contenu indésirable',
      other: 'Autre motif',
    },
    text: 'Ce qui pose problème (facultatif)',
    contact: 'Votre adresse e-mail (facultative)',
    contactHint:
      'Pour que les administrateurs puissent vous poser des questions. Le texte et l’adresse sont supprimés quelques semaines après la décision.',
    send: 'Envoyer le signalement',
    done: 'Le signalement est envoyé',
    doneText: 'Un administrateur de ce service va l’examiner.',
    held: 'De nombreux lecteurs ont signalé ce paste. Jusqu’à la décision d’un administrateur, personne d’autre que vous ne peut le lire.',
  },

  history: {
    title: (name: string) => `Versions de ${name}`,
    intro:
      'Les plus récentes d’abord. Les versions qui n’existent plus, ou que vous ne pouvez pas lire, ne sont pas listées.',
    version: (number: number) => `Version ${number}`,
    versionOf: (number: number, newest: number) => `Version ${number} sur ${newest}`,
    older: (slug: string) => `~${slug} affiche une version plus ancienne de ce paste.`,
    move: (slug: string) => `Déplacer ~${slug} vers cette version`,
    newer: 'Il existe une version plus récente de ce paste.',
    openNewer: 'L’ouvrir',
    newerChanges: 'Ce qui a changé',
    compareHint:
      'Choisissez une version, puis appuyez sur « Comparer » à côté d’une autre pour voir ce qui a changé entre les deux.',
    compareFrom: (number: number) => `Comparer à partir de la version ${number}`,
    compare: 'Comparer',
    compareWith: (number: number) => `Comparer avec la version ${number}`,
    restore: 'Restaurer',
    restoreOne: (number: number) => `Restaurer la version ${number}`,
  },

  edit: {
    title: (paste: string) => `Modifier ${paste}`,
    of: 'Nouvelle version de',
    save: 'Enregistrer la nouvelle version',
    keep: 'Comme la version précédente',
    hint: 'Les lecteurs de la version précédente voient un lien vers la nouvelle. La version précédente reste jusqu’à son expiration ou sa suppression.',
    keptFiles: 'Fichiers conservés',
    keptHint:
      'Un fichier que vous choisissez remplace celui du même nom, ou s’ajoute à la fin. Avec JavaScript, vous pouvez aussi renommer les fichiers et modifier leur texte ici.',
    tokenHint:
      'Il a été affiché à la création de cette version. La nouvelle version reçoit son propre jeton.',
    conflict: (code: string) => `${code} est une version plus récente, dont votre texte ne tient pas compte.`,
    conflictHint: 'Regardez ce qui a changé. Si vous enregistrez, votre texte devient la version suivante.',
    saved: 'Nouvelle version enregistrée',
  },

  burn: {
    explanation: 'Ce paste ne peut être lu qu’une fois : le bouton affiche le contenu et supprime le paste.',
    readers: 'La première personne qui le révèle le lit, et plus personne ensuite.',
    helpTitle: 'Si rien n’arrive',
    help: 'Dans les cinq minutes, rechargez la page qui devait afficher le texte. Un contenu qui n’est ni un texte ni une image est enregistré dans un fichier : appuyez alors de nouveau sur le bouton. Ouvrir de nouveau le lien compte comme la visite d’une autre personne.',
    reveal: 'Révéler le texte et supprimer le paste',
    revealFiles: 'Révéler les fichiers et supprimer le paste',
    command: 'En ligne de commande :',
    revealed:
      'Le paste est supprimé : copiez ou téléchargez ce dont vous avez besoin. Si la fin manque, rechargez aussitôt cette page ; cela fonctionne pendant cinq minutes.',
    revealedImage:
      'Le paste est supprimé : enregistrez l’image. Le téléchargement et le rechargement de cette page fonctionnent pendant cinq minutes.',
  },

  receipt: {
    title: 'Récupéré',
    fetched: 'récupéré',
    somebody: 'une personne qui avait le lien',
    by: (reader: string) => `par ${reader}`,
    meaning:
      'Récupéré veut dire que le contenu a été envoyé. On ne sait pas s’il est arrivé en entier ni s’il a pu être déchiffré.',
    notYet: 'Personne ne l’a encore récupéré.',
    unnamed: 'La personne qui a créé ce paste verra qu’il a été récupéré.',
    named: (reader: string) => `La personne qui a créé ce paste verra que vous, ${reader}, l’avez récupéré.`,
  },
  encryption: {
    option: 'Chiffrer dans ce navigateur',
    password: 'Mot de passe (facultatif)',
    passwordHint:
      'Les lecteurs ont alors besoin du lien et du mot de passe. Envoyez-leur le mot de passe par un autre moyen.',
    failed: 'Le navigateur n’a pas pu chiffrer le paste.',
    insecure:
      'Les navigateurs ne chiffrent et ne déchiffrent que sur les pages chargées en https. Ouvrez cette page en https ou utilisez la commande pasteflow.',
    readers: 'Seul le lien complet, avec sa clé, ouvre le paste.',
  },

  encrypted: {
    title: 'Paste chiffré',
    needsScript:
      'Ce paste est chiffré, et un navigateur a besoin de JavaScript pour le déchiffrer. Activez JavaScript et rechargez la page.',
    password: 'Mot de passe',
    decrypt: 'Déchiffrer',
    qr: 'Code QR du lien avec sa clé',
    document: 'Document chiffré',
    explanationTitle: 'Contre quoi le chiffrement protège',
    explanation:
      'Le navigateur de l’auteur chiffre le paste. La clé se trouve dans le lien, après le #, et les navigateurs n’envoient cette partie à aucun serveur. Quiconque ne dispose que des données de ce service, comme son administrateur, un intrus ou quelqu’un qui accède à une sauvegarde, ne peut pas lire le paste. Le service connaît tout de même la taille du paste, ses dates et les adresses IP de ses lecteurs. Il fournit aussi le script qui déchiffre : un service malveillant ou piraté pourrait fournir un autre script, qui lirait la clé. Toute personne qui a le lien complet, et le mot de passe s’il y en a un, peut lire le paste.',
    inBrowser: {
      loading: 'Chargement du paste chiffré…',
      decrypting: 'Déchiffrement…',
      noKey:
        'Le lien est incomplet : la clé après le # manque. Ouvrez le lien complet ou demandez-le à l’auteur.',
      unreachable: 'Le serveur n’a pas envoyé le paste. Rechargez la page pour réessayer.',
      notRevealed:
        'Le serveur n’a pas envoyé le paste en entier. Appuyez de nouveau sur le bouton dans les cinq minutes, et ne rechargez pas cette page.',
      gone: 'Le paste a été lu, a été supprimé ou a expiré.',
      notShown: 'Cette page n’a pas pu déchiffrer le paste ou ne peut pas afficher ce qu’il contient.',
      outdated:
        'Ce navigateur ne peut pas déchiffrer le paste. Mettez-le à jour ou ouvrez le lien dans un autre.',
      revealed:
        'Le paste est supprimé et seule cette page le contient encore : copiez ou téléchargez ce dont vous avez besoin.',
      tooLarge: 'Le paste déchiffré est trop volumineux pour cette page.',
      askPassword:
        'Le paste a un mot de passe, ou la clé dans le lien est incorrecte. Saisissez le mot de passe.',
      wrong: 'Le mot de passe ou la clé dans le lien est incorrect, ou quelqu’un a modifié le paste.',
      onlyCopy:
        'Le service a supprimé le paste, et cette page en contient la seule copie. Corrigez le mot de passe, ou la clé dans l’adresse, ou téléchargez le document chiffré. La commande pasteflow cat --from FILE le déchiffre.',
      saveDocument: 'Télécharger le document chiffré',
      attachment: 'Télécharger NAME',
    },
  },

  timeline: {
    title: (paste: string) => `Chronologie : ${paste}`,
    back: 'Retour au paste',
    intro:
      'Tous les états de ce paste et toutes les tentatives d’envoi, tels que la base de données les a enregistrés.',
    chart: 'États et tentatives au fil du temps',
    paste: 'Paste',
    job: 'Tâche',
    attempt: (number: number) => `Tentative ${number}`,
    transitions: 'Transitions',
    attempts: 'Tentatives',
    retries: 'Relances',
    from: 'De',
    to: 'Vers',
    at: 'Heure (UTC)',
    after: 'Temps écoulé',
    by: 'Par',
    reason: 'Motif',
    subject: 'Objet',
    state: 'État',
    due: 'Prévue',
    started: 'Commencée',
    finished: 'Terminée',
    error: 'Erreur',
    waiting: 'en attente',
    running: 'en cours',
    states: {
      SUCCEEDED: 'réussi',
      NOT_EXPIRED: 'non expiré',
      DELETION_IN_PROGRESS: 'suppression en cours',
      DELETED: 'supprimé',
    },
    reasons: {
      claimed: 'prise en charge',
      interrupted: 'interrompue',
      yielded: 'reportée',
      worker_lost: 'processus perdu',
      dead_letter: 'message non distribué',
      lost_too_often: 'perdue trop souvent',
      storage_unavailable: 'stockage indisponible',
      storage_refused: 'refusé par le stockage',
      database_unavailable: 'base de données indisponible',
      content_damaged: 'contenu endommagé',
      work_failed: 'échec du travail',
      cancelled: 'annulée',
      internal: 'erreur interne',
      expired: 'expiré',
      object_deleted: 'objet supprimé',
      revealed: 'lu',
      endpoint_failed: 'non accepté par le programme',
      endpoint_off: 'webhook désactivé ou retiré',
      claimed_too_long: 'pris en charge trop longtemps',
      stranded: 'laissé en attente',
      retried: 'relancé',
      other: 'autre raison',
    },
    machines: { paste_upload: 'envoi', paste_deletion: 'suppression', task_execution: 'tentative' },
    none: 'Il n’y a pas encore de transitions.',
  },

  myPastes: {
    title: 'Mes pastes',
    titleFilter: 'Dans le titre ou un nom de fichier',
    upload: 'Envoi',
    readers: 'Visibilité',
    visibilities: { unlisted: 'Non répertorié', members: 'Pour les membres', private: 'Privé' },
    anyState: 'Tout',
    order: 'Ordre',
    newestFirst: 'Les plus récents d’abord',
    byExpiry: 'Par expiration',
    cut: 'Seuls vos 10 000 pastes les plus récents sont triés.',
    paste: 'Paste',
    selectAll: 'Tout sélectionner',
    selectOne: (name: string) => `Sélectionner ${name}`,
    copyLinkOf: (name: string) => `Copier le lien de ${name}`,
    selected: '{count} sur {all}',
    deleteSelected: 'Supprimer la sélection…',
    none: 'Vous n’avez pas encore de pastes.',
    usedPastes: (used: string, allowed: string) => `${used} sur ${allowed} pastes`,
    usedSize: (used: string, allowed: string) => `${used} sur ${allowed}`,
    noMatch: 'Aucun paste ne correspond au filtre.',
    noneYet:
      'Aucun résultat parmi les 10 000 plus récents de ces pastes. La recherche continue avec les plus anciens.',
    confirm: (count: number) =>
      plural(count, {
        one: 'Supprimer ce paste ?',
        many: 'Supprimer ces # de pastes ?',
        other: 'Supprimer ces # pastes ?',
      }),
    confirmHint: 'Un paste supprimé ne peut pas être restauré.',
    keep: (count: number) =>
      plural(count, { one: 'Le conserver', many: 'Les conserver', other: 'Les conserver' }),
    deleted: (count: number) =>
      plural(count, {
        one: '# paste supprimé.',
        many: '# de pastes supprimés.',
        other: '# pastes supprimés.',
      }),
  },
  myJobs: {
    title: 'Mes tâches',
    anyState: 'Tous',
    anyType: 'Tous',
    none: 'Vous n’avez pas encore de tâches. Un import crée des pastes à partir des fichiers d’une archive, et un export crée une archive de tous vos pastes.',
    noMatch: 'Aucune tâche ne correspond au filtre.',
    all: 'Afficher toutes mes tâches',
    importTitle: 'Import',
    file: 'Fichier',
    fileHint:
      'Une archive zip, tar ou tar.gz donne un paste par fichier, un fichier NDJSON un paste par ligne.',
    asOnePaste: 'Créer un seul paste avec tous les fichiers d’une archive, 100 au plus',
    startImport: 'Lancer l’import',
    exportTitle: 'Export',
    exportHint: 'Tous vos pastes qui ont un contenu, dans une ou plusieurs archives.',
    format: 'Format',
    startExport: 'Lancer l’export',
  },
  job: {
    types: { import: 'Import', export: 'Export' },
    titled: (type: string) => `${type} :`,
    type: 'Type',
    state: 'État',
    states: {
      queued: 'en attente',
      processing: 'en cours',
      completed: 'terminée',
      partial: 'terminée en partie',
      failed: 'en échec',
    },
    cancelled: 'annulée',
    progress: 'Progression',
    waiting: 'La tâche attend son tour.',
    ended: 'Fin',
    cancel: 'Annuler cette tâche',
    cancelHint: 'La tâche s’arrête aussitôt. Ce qu’elle a créé est conservé.',
    cancelButton: 'Annuler la tâche',
    retry: 'Relancer la tâche',
    retryHint: 'Une nouvelle tâche importe ce qui manque.',
    retryOf: { name: 'Tâche relancée', link: 'une tâche précédente' },
    retriedAs: { name: 'Relancée dans', link: 'une nouvelle tâche' },
    result: 'Résultat',
    counts: {
      imported: 'Importés',
      imported_earlier: 'Importés auparavant',
      failed: 'En échec',
      exported: 'Exportés',
      skipped: 'Ignorés, car macOS les a ajoutés à l’archive',
      missing_count: 'Manquants',
      left_out: 'Omis, car ils sont supprimés à la lecture',
      bytes: 'Taille',
    },
    errors: 'Entrées non importées',
    position: 'Entrée',
    entry: (number: number) => `Entrée ${number}`,
    line: (number: number) => `Ligne ${number}`,
    name: 'Nom',
    reason: 'Motif',
    missing: 'Pastes sans contenu',
    download: 'Télécharger l’archive',
    downloadArchive: (number: number) => `Télécharger l’archive ${number}`,
    archivesRemoved:
      'Les archives de cet export ont été supprimées : seules celles de vos trois derniers exports sont conservées.',
    downloadOf: (type: string) => `Télécharger : ${type}`,
    downloadHint: 'Le lien est valable quelques minutes ; rechargez la page pour en obtenir un nouveau.',
    pastes: 'Pastes',
    newestPastes: (count: number) =>
      plural(count, {
        one: 'Le plus récent est affiché.',
        many: 'Les # plus récents sont affichés.',
        other: 'Les # plus récents sont affichés.',
      }),
    allPastes: 'Afficher tous mes pastes',
  },
  requests: {
    asked: 'On vous demande un secret',
    askedBy: 'Demandé par',
    left: (count: number) =>
      plural(count, {
        one: 'accepte encore # secret',
        many: 'accepte encore # de secrets',
        other: 'accepte encore # secrets',
      }),
    quotation: 'Demandé par l’intermédiaire de ce service, dans les mots de la personne qui demande :',
    caution: 'N’envoyez un secret que si vous savez qui le demande, et pourquoi.',
    unchecked: 'Personne n’a vérifié ces mots.',
    report: 'Signaler cette demande',
    ownRequest: 'Cette demande est la vôtre. Voici ce que les autres en voient.',
    openOwn: 'Voir ce qui est arrivé',
    needsScript:
      'Votre navigateur chiffre et déchiffre ici, et il a besoin de JavaScript pour cela. Activez JavaScript et rechargez la page.',
    secret: 'Votre secret',
    placeholder: 'Saisissez ou collez le secret ici.',
    keys: 'Tab ajoute un retrait ; Échap puis Tab permet de quitter le texte. Vous pouvez déposer des fichiers n’importe où sur la page.',
    send: 'Chiffrer et envoyer',
    privacy:
      'Votre navigateur chiffre le secret avant qu’il ne quitte cet appareil. Seule la personne qui le demande peut l’ouvrir, pas l’administrateur de ce service.',
    explanation:
      'Le lien contient une clé, après le #, et les navigateurs n’envoient cette partie à aucun serveur. Ce que vous envoyez ne s’ouvre qu’avec l’autre moitié de cette clé, que seule possède la personne qui demande. Quiconque ne dispose que des données de ce service, comme son administrateur, un intrus ou quelqu’un qui accède à une sauvegarde, ne peut pas le lire. Le service en connaît tout de même la taille, l’heure et votre adresse IP. Il fournit aussi le script qui chiffre : un service malveillant ou piraté pourrait fournir un autre script, qui lirait ce que vous saisissez.',
    sent: 'Votre secret est envoyé',
    sentText: 'Seule la personne qui l’a demandé peut l’ouvrir. Vous pouvez fermer cette page.',
    receipt: 'Reçu',
    receiptHint: 'Il désigne ce que vous avez envoyé, en cas de questions. Il n’ouvre rien.',
    another: 'Envoyer un autre secret',
    inBrowser: {
      brokenLink:
        'Le lien est incomplet : la clé après le # manque ou est fausse. Ouvrez le lien complet, ou demandez-le de nouveau.',
      outdated:
        'Ce navigateur ne peut ni chiffrer ni déchiffrer. Mettez-le à jour, ou ouvrez le lien dans un autre.',
      unloaded: 'Une partie de cette page n’a pas pu être chargée. Rechargez la page.',
      encrypting: 'Chiffrement…',
      sending: 'Envoi…',
      failed: 'Le navigateur n’a pas pu chiffrer ceci.',
      noRoom:
        'La personne qui demande n’a plus de place pour ce qu’on lui envoie. Dites-le-lui, et réessayez plus tard.',
    },

    title: 'Mes demandes',
    intro:
      'Demandez un secret à quelqu’un, par exemple un mot de passe ou un fichier de clé. Aucun compte n’est nécessaire : son navigateur chiffre le secret, et vous seul pouvez l’ouvrir.',
    make: 'Demander un secret',
    message: 'Ce que vous demandez (facultatif)',
    messageHint: 'Toute personne qui a le lien le lit. Les liens et les adresses ne sont pas admis.',
    messageRefused: 'Retirez les liens et les adresses.',
    deposits: 'Nombre de secrets acceptés',
    submit: 'Créer la demande',
    notMade: 'Le serveur n’a pas répondu. Réessayez : aucune deuxième demande n’est créée.',
    listTitle: 'Vos demandes',
    none: 'Vous n’avez pas encore de demandes.',
    noMessage: 'Demande sans message',
    states: { OPEN: 'ouverte', USED_UP: 'complète', CANCELLED: 'fermée', EXPIRED: 'expirée' },
    arrived: (count: number, all: number) => `${count} sur ${all} arrivés`,
    made: 'Créée',

    one: 'Demande de secret',
    ownLink: 'Votre propre lien',
    save: 'Enregistrez ce lien : sans lui personne, pas même l’administrateur de ce service, ne peut ouvrir ce qui arrive.',
    download: 'Télécharger le lien dans un fichier',
    saved: 'Je l’ai enregistré',
    askLink: 'Lien pour les autres',
    pass: 'Envoyez ce lien aux personnes qui ont le secret. Il n’ouvre rien.',
    passLater: 'Quand vous aurez enregistré votre propre lien, le lien pour les autres apparaîtra ici.',
    arrivedTitle: 'Ce qui est arrivé',
    nothing: 'Rien n’est encore arrivé. Cette page affiche ce qui arrive dès que c’est là.',
    nothingCame: 'Rien n’est arrivé.',
    number: (number: number) => `Secret ${number}`,
    open: 'Ouvrir',
    openOne: (number: number) => `Ouvrir le secret ${number}`,
    gone: 'n’existe plus',
    deleteHint: 'Ce qui est arrivé se trouve parmi vos pastes, où vous pouvez le supprimer :',
    withOwnLink: 'S’il a été envoyé à votre demande, ouvrez-le avec votre propre lien de cette demande.',
    wrongKey:
      'La clé de ce lien n’ouvre pas ce secret : c’est celle d’une autre demande, ou quelqu’un a modifié ce que le service conserve.',
    brokenOwn:
      'Ce n’est pas votre propre lien de cette demande : ce qui suit le # n’est pas l’une de vos clés.',
    lostTitle: 'La clé manque',
    lost: 'Votre propre lien se termine par une clé, après le #, et elle seule ouvre ce qui arrive. Collez le lien ici. Vous le trouverez peut-être dans l’historique de votre navigateur, ou dans le fichier que vous avez téléchargé.',
    lostUse: 'Utiliser ce lien',
    lostForEver:
      'Si le lien est perdu, personne ne peut ouvrir ce qui est arrivé. Fermez alors cette demande, créez-en une nouvelle, et demandez de nouveau.',
    cancel: 'Fermer cette demande',
    cancelHint: 'Elle n’accepte alors plus de secrets. Ce qui est arrivé reste.',
    cancelButton: 'Fermer la demande',
  },
  webhooks: {
    title: 'Mes webhooks',
    intro:
      'Un webhook signale à l’un de vos programmes ce qui arrive à vos pastes, tâches et demandes : le service envoie chaque événement à votre URL, signé et sans contenu.',
    off: 'Les webhooks sont désactivés : l’administrateur de ce service ne les a pas configurés.',
    add: 'Ajouter un webhook',
    url: 'URL de votre programme',
    urlHint: 'Elle commence par https:// et elle est accessible depuis Internet.',
    urlProblems: {
      'is not a URL': 'Ceci n’est pas une URL.',
      'is too long': 'L’URL est trop longue.',
      'has a user name or a password': 'L’URL ne doit contenir ni nom d’utilisateur ni mot de passe.',
      'has a fragment': 'L’URL ne doit pas contenir de # suivi d’un texte.',
      'is not https on port 443': 'L’URL doit commencer par https:// et ne nommer aucun port.',
      'is not public': 'Cette adresse n’est pas accessible depuis Internet.',
    },
    events: 'Événements',
    noEvents: 'Choisissez au moins un événement.',
    eventNames: {
      'paste.stored': 'Paste enregistré',
      'paste.failed': 'Échec de l’envoi du paste',
      'paste.read': 'Paste lu',
      'paste.deleted': 'Paste supprimé',
      'paste.expired': 'Paste expiré',
      'deposit.arrived': 'Secret arrivé',
      'job.ended': 'Tâche terminée',
    },
    eventHints: {
      'paste.stored': 'Son contenu est dans le stockage.',
      'paste.failed': 'Le stockage n’a pas accepté le contenu.',
      'paste.read': 'Quelqu’un a lu un paste qui est supprimé à la lecture.',
      'paste.deleted': 'Vous ou l’administrateur l’avez supprimé.',
      'paste.expired': 'Sa durée est écoulée.',
      'deposit.arrived': 'Quelqu’un a répondu à l’une de vos demandes.',
      'job.ended': 'Un import ou un export est terminé ou en échec.',
    },
    submit: 'Ajouter le webhook',
    full: (count: number) =>
      `Vous avez ${count} webhooks, et il ne peut pas y en avoir plus. Retirez-en un pour en ajouter un autre.`,
    listTitle: 'Vos webhooks',
    none: 'Vous n’avez pas encore de webhooks.',
    states: { on: 'activé', failing: 'en échec', off: 'désactivé' },
    added: 'Ajout :',
    made: 'Le webhook est ajouté',
    changed: 'La clé de signature est changée',
    secret: 'Clé de signature',
    secretHint:
      'Copiez-la maintenant : elle ne sera plus affichée. Avec elle et une bibliothèque de Standard Webhooks (standardwebhooks.com), votre programme vérifie qu’une livraison vient de ce service.',
    changedHint: 'Pendant 24 heures, les livraisons sont aussi signées avec la clé précédente.',

    one: 'Webhook',
    failingSince: 'en échec depuis :',
    failingHint:
      'Depuis, aucune livraison n’a réussi. Après trois jours sans succès, le webhook est désactivé.',
    offSince: 'désactivation :',
    offFor: {
      gone: 'Votre programme a répondu par le statut 410 que l’URL n’existe plus. Le webhook a donc été désactivé.',
      failing: 'Pendant trois jours, aucune livraison n’a réussi. Le webhook a donc été désactivé.',
      operator: 'L’administrateur de ce service a désactivé le webhook. Lui seul peut dire pourquoi.',
    },
    switchOn: 'Activer',
    switchOnHint: 'Ce qui s’est passé pendant qu’il était désactivé n’est pas envoyé.',
    deliveries: 'Livraisons',
    noDeliveries: 'Il n’y a pas encore de livraisons.',
    deliveryStates: { WAITING: 'en attente', DELIVERED: 'livrée', FAILED: 'en échec' },
    subjects: { short_code: 'Paste', job_id: 'Tâche', request_id: 'Demande' },
    attempt: (number: number, all: number) => `tentative ${number} sur ${all}`,
    next: 'prochaine tentative :',
    answered: (status: number) => `réponse : ${status}`,
    again: 'renvoyée',
    sendAgain: 'Renvoyer',
    sendOneAgain: (event: string, time: string) => `Renvoyer : ${event}, ${time}`,
    change: 'Changer la clé de signature',
    changeHint:
      'La nouvelle clé est affichée une seule fois. Pendant 24 heures, les livraisons sont signées avec la nouvelle et la précédente, pour que votre programme puisse passer de l’une à l’autre. Une clé plus ancienne cesse aussitôt d’être valable.',
    changeButton: 'Créer une nouvelle clé',
    remove: 'Retirer ce webhook',
    removeHint: 'Plus rien n’est envoyé à son URL. Ses livraisons sont également supprimées.',
    removeButton: 'Retirer le webhook',
  },
  mySessions: {
    title: 'Mes sessions',
    intro:
      'Ces navigateurs ont une session ouverte à votre nom. Une session dure 12 heures au maximum et prend fin quand le jeton qui l’a ouverte expire ou est révoqué. Ouverte par une invitation, elle dure 30 jours au maximum.',
    byToken: 'Avec le jeton',
    byProvider: (host: string | null) => (host === null ? 'Par le fournisseur d’identité' : `Par ${host}`),
    byInvitation: 'Par une invitation',
    otherDevice:
      'Pour vous connecter sur un autre appareil, créez un jeton, puis saisissez-le sur cet autre appareil.',
    begun: 'Début :',
    lastUsed: 'dernière utilisation :',
    ends: 'fin :',
    endButton: 'Fermer',
    endOne: (begun: string) => `Fermer la session commencée le ${begun}`,
    thisBrowser: 'Ce navigateur',
    endOthers: 'Fermer toutes les autres sessions',
  },
  myTokens: {
    title: 'Mes jetons',
    intro:
      'Avec un jeton, des programmes agissent en votre nom. Quand un jeton expire ou est révoqué, les jetons créés avec lui ne sont plus valables et les sessions qu’il a ouvertes prennent fin.',
    none: 'Vous n’avez aucun jeton.',
    make: 'Créer un jeton',
    name: 'Nom',
    nameHint: 'Par exemple la machine sur laquelle vous l’utilisez.',
    scope: 'Droits',
    scopes: {
      full: 'lecture, écriture et jetons',
      write: 'lecture et écriture',
      read: 'lecture seule',
    },
    expiry: 'Durée de validité',
    expiries: { 604800: '1 semaine', 2592000: '30 jours', 7776000: '90 jours', 31536000: '1 an' },
    submit: 'Créer le jeton',
    made: (name: string) => `Le jeton ${name} est créé`,
    secret: 'Jeton',
    secretHint:
      'Copiez-le maintenant : il ne sera plus affiché. Toute personne qui l’a peut agir en votre nom.',
    cannotMake: 'Seul l’administrateur de ce service crée des jetons.',
    notFull:
      'Vous avez ouvert cette session avec un jeton que vous avez créé vous-même. Pour créer ou révoquer des jetons, connectez-vous avec un jeton de l’administrateur, ou auprès du fournisseur d’identité.',
    created: 'Création :',
    lastUsed: 'dernière utilisation :',
    neverUsed: 'jamais utilisé',
    expires: 'expiration :',
    neverExpires: 'n’expire jamais',
    revoke: 'Révoquer',
    revokeOne: (name: string) => `Révoquer le jeton ${name}`,
  },
  person: { as: (name: string, host: string) => `${name}, selon ${host}` },
  myAccount: {
    title: 'Mon compte',
    exportTitle: 'Emporter vos pastes',
    exportHint:
      'Une tâche place tous vos pastes dans une ou plusieurs archives. Téléchargez-les toutes avant d’effacer vos pastes.',
    eraseTitle: 'Tout effacer',
    eraseHint:
      'Cette action supprime pour toujours vos pastes, tâches, archives, jetons, webhooks et sessions, ainsi que votre nom. Personne ne peut les récupérer.',
    notFull:
      'Vous avez ouvert cette session avec un jeton que vous avez créé vous-même. Pour tout effacer, connectez-vous avec un jeton de l’administrateur, ou auprès du fournisseur d’identité.',
    nameField: 'Votre nom',
    nameHint: 'Pour confirmer, saisissez-le exactement :',
    nameError: 'Ce n’est pas votre nom. Rien n’a été supprimé.',
    erase: 'Tout effacer',
    erased: 'Votre compte est effacé',
    erasedHint:
      'Vos jetons et vos sessions ont pris fin. Vos pastes et vos tâches seront supprimés d’ici quelques minutes.',
    goOn: 'Continuer sans se connecter',
  },
  signIn: {
    title: 'Connexion',
    link: 'Connexion',
    signedInAs: 'Compte connecté :',
    signOut: 'Déconnexion',
    intro:
      'Vous verrez alors vos pastes et vos tâches, et les pastes que vous créez ici vous appartiendront.',
    token: 'Jeton d’API',
    tokenHint:
      'Demandez un jeton à l’administrateur de ce service, ou créez-en un dans « Mes jetons ». Votre session dure 12 heures au maximum, ou jusqu’à ce que vous vous déconnectiez ou fermiez le navigateur.',
    invitationHint:
      'Sans jeton, demandez une invitation à l’administrateur : un lien qui ouvre votre session. Elle met fin à la session qu’une invitation précédente a ouverte.',
    submit: 'Se connecter',
    without: 'Continuer sans se connecter',
    byProvider: (host: string) => `Se connecter avec ${host}`,
    orToken: 'Ou connectez-vous avec un jeton.',
    onlyReads:
      'Vous êtes connecté avec un jeton qui permet seulement de lire, et ne pouvez rien envoyer ici. Déconnectez-vous ou connectez-vous avec un autre jeton, puis ouvrez de nouveau cette page.',
    done: 'Connexion réussie',
    goOn: 'Continuer',
  },
  invitation: {
    title: 'Vous avez une invitation',
    intro: (name: string) =>
      `Ce lien ouvre dans ce navigateur une session au nom de ${name}, pour 30 jours. Il ne sert qu’une fois : utilisez-le sur l’appareil où vous voulez rester connecté. Si une autre session est ouverte dans ce navigateur, elle prend fin.`,
    accept: 'Se connecter sur cet appareil',
    accepted: (name: string) => `Ce navigateur a une session ouverte au nom de ${name} pour 30 jours.`,
    another:
      'Si vous perdez cet appareil ou vous déconnectez, demandez une autre invitation à l’administrateur. Elle met fin à cette session.',
  },

  members: {
    arrival: 'Un instant',
    arrivalWhy:
      'Un autre site vous a conduit ici. Cette page continue d’elle-même, afin que votre navigateur puisse indiquer si vous êtes connecté.',
    arrivalAsks:
      'Un autre site vous a conduit ici. Choisissez « Continuer », afin que votre navigateur puisse indiquer si vous êtes connecté.',
  },

  problem: {
    correct: 'Corrigez ceci et envoyez de nouveau le formulaire :',
    unknownPage: {
      title: 'Page introuvable',
      detail: 'Il n’y a pas de page à cette adresse. Vérifiez l’URL.',
    },
    failedTitle: 'L’envoi de ce paste a échoué',
    failedDetail:
      'Le stockage n’a pas accepté le texte, et les tentatives sont terminées : il n’y a rien à afficher à cette adresse. La chronologie indique quand et pourquoi.',
    failedHelp:
      'Pendant 24 heures, l’administrateur de ce service peut relancer l’envoi ; le paste apparaît alors ici. Vous pouvez aussi créer de nouveau le paste.',
    back: 'Créer un nouveau paste',
    timeline: 'Afficher la chronologie',
    signIn: 'Se connecter, s’il n’est pas lisible par tous',
    requestId: 'Identifiant de requête',
    of: {
      invalid_transition: {
        title: 'Conflit avec l’état actuel',
        detail: 'L’état actuel ne permet pas cette action. Rechargez la page et vérifiez l’état.',
      },
      short_code_taken: {
        title: 'Aucun code court libre',
        detail: 'Aucun code court libre n’a été trouvé. Réessayez dans un instant.',
      },
      slug_taken: {
        title: 'Nom déjà pris',
        detail: 'Un autre paste porte déjà ce nom dans son lien. Choisissez un autre nom.',
      },
      slug_limit_reached: {
        title: 'Trop de noms',
        detail:
          'Vous avez atteint le nombre maximal de pastes avec un nom dans le lien. Créez ce paste sans nom. Un paste supprimé compte jusqu’à ce que son nom soit libre.',
      },
      slug_moved: {
        title: 'Le nom désigne un autre paste',
        detail:
          'Ce nom désigne maintenant un autre paste. Regardez ce paste, puis déplacez le nom à partir de là si vous le souhaitez toujours.',
      },
      slug_move_refused: {
        title: 'Nom non déplacé',
        detail:
          'Le nom n’a pas été déplacé vers ce paste. Choisissez un autre de vos pastes, ou créez une nouvelle version.',
      },
      paste_not_found: {
        title: 'Paste introuvable',
        detail: 'Il n’y a pas de paste à cette adresse. Vérifiez l’URL.',
      },
      paste_gone: {
        title: 'Paste expiré ou supprimé',
        detail: 'Ce paste a expiré, a été supprimé ou a déjà été lu. Il ne peut pas être restauré.',
      },
      paste_taken_down: {
        title: 'Paste retiré',
        detail: 'L’administrateur de ce service a retiré ce paste. Il ne peut plus être lu.',
      },
      paste_held: {
        title: 'Paste suspendu',
        detail:
          'De nombreux lecteurs ont signalé ce paste. Il ne peut pas être lu tant qu’un administrateur de ce service ne l’a pas examiné.',
      },
      paste_in_progress: {
        title: 'Paste pas encore enregistré',
        detail: 'L’envoi d’un paste est encore en cours. Réessayez dans un instant.',
      },
      parent_not_found: {
        title: 'Paste d’origine introuvable',
        detail:
          'Vous ne pouvez pas lire le paste d’origine : il n’existe pas, a expiré, a été supprimé ou est supprimé à la lecture. Corrigez son code court, ou créez le paste sans paste d’origine.',
      },
      superseded: {
        title: 'Ce paste a une version plus récente',
        detail:
          'Quelqu’un a enregistré entre-temps une version plus récente de ce paste. Regardez-la, puis modifiez-la si vous le souhaitez toujours.',
      },
      file_not_found: {
        title: 'Fichier introuvable dans ce paste',
        detail: 'Ce paste n’a pas de fichier de ce nom. Sa page montre les fichiers qu’il contient.',
      },
      not_several_files: {
        title: 'Ce paste n’a pas de fichiers',
        detail:
          'Ce paste est un seul texte ou un seul fichier, sans noms de fichiers. Ouvrez-le sans ce qui suit son code dans l’adresse.',
      },
      no_diff: {
        title: 'Pas de comparaison pour ce paste',
        detail:
          'Ce paste n’a pas été créé à partir d’un autre, ou l’un des deux a été supprimé : il n’y a rien à comparer.',
      },
      diff_unavailable: {
        title: 'Pastes non comparés',
        detail: 'Ces deux pastes ne peuvent pas être comparés. Vous pouvez lire chacun d’eux séparément.',
      },
      report_settled: {
        title: 'Signalements déjà traités',
        detail:
          'Un administrateur a examiné des signalements de ce contenu et a décidé qu’il reste en ligne. Votre signalement n’a pas été enregistré.',
      },
      request_not_found: {
        title: 'Demande introuvable',
        detail: 'Il n’y a pas de demande à cette adresse. Vérifiez le lien.',
      },
      request_closed: {
        title: 'La demande n’accepte plus rien',
        detail:
          'Cette demande a expiré ou a été fermée. Demandez un nouveau lien à la personne qui vous l’a envoyé.',
      },
      request_used_up: {
        title: 'Demande satisfaite',
        detail:
          'Cette demande a reçu tout ce qu’elle accepte. Demandez un nouveau lien à la personne qui vous l’a envoyé.',
      },
      request_ended: {
        title: 'Demande terminée',
        detail: 'La demande a reçu tout ce qu’elle accepte. Il n’y a rien à annuler.',
      },
      request_limit_reached: {
        title: 'Trop de demandes ouvertes',
        detail:
          'Vous avez autant de demandes ouvertes qu’il est permis. Annulez-en une, ou attendez que l’une d’elles expire.',
      },
      reveal_required: {
        title: 'Paste supprimé à la lecture',
        detail:
          'Ce paste est supprimé quand il est lu. Pour le lire, une seule fois, ouvrez sa page et révélez le texte.',
      },
      nothing_to_reveal: {
        title: 'Paste non supprimé à la lecture',
        detail: 'Ce paste est conservé quand il est lu. Lisez-le normalement, à son adresse.',
      },
      job_not_found: {
        title: 'Tâche introuvable',
        detail: 'Il n’y a pas de tâche avec cet identifiant. Vérifiez l’URL.',
      },
      job_forbidden: {
        title: 'Tâche d’un autre utilisateur',
        detail: 'Cette tâche appartient à un autre utilisateur. Utilisez un jeton de son propriétaire.',
      },
      job_ended: {
        title: 'Tâche déjà terminée',
        detail: 'Cette tâche a déjà pris fin. Il n’y a plus rien à annuler.',
      },
      job_not_retryable: {
        title: 'Tâche non relancée',
        detail:
          'Cette tâche ne peut pas être relancée : son état ne le permet pas, elle l’a déjà été, ou ses données n’existent plus. Si besoin, créez une nouvelle tâche.',
      },
      execution_taken: {
        title: 'Erreur interne',
        detail: 'Un autre processus a mis fin à cette exécution.',
      },
      idempotency_key_reused: {
        title: 'Clé d’idempotence réutilisée',
        detail:
          'Cette clé d’idempotence a déjà servi à une autre requête. Envoyez une nouvelle clé avec chaque nouvelle requête.',
      },
      idempotency_key_in_use: {
        title: 'Clé d’idempotence en cours d’utilisation',
        detail: 'Une requête avec cette clé d’idempotence est en cours. Réessayez dans un instant.',
      },
      rate_limited: {
        title: 'Trop de requêtes',
        detail:
          'Vous avez envoyé trop de requêtes en peu de temps ou en même temps. Patientez un peu, puis réessayez.',
      },
      quota_exceeded: {
        title: 'Quota épuisé',
        detail:
          'Ce paste dépasserait votre quota. Supprimez des pastes, puis réessayez. Un paste supprimé compte jusqu’à ce que son contenu soit effacé, ce qui prend une minute ou deux.',
      },
      storage_full: {
        title: 'Stockage plein',
        detail:
          'Ce service n’a plus de place pour ce paste. Adressez-vous à son administrateur, ou réessayez plus tard.',
      },
      content_empty: {
        title: 'Contenu vide',
        detail: 'Le contenu est vide. Envoyez un texte ou un fichier d’au moins un octet.',
      },
      content_too_large: {
        title: 'Contenu trop volumineux',
        detail: 'Ce que vous avez envoyé dépasse la taille maximale. Envoyez un contenu plus petit.',
      },
      content_blocked: {
        title: 'Contenu bloqué',
        detail:
          'L’administrateur de ce service a bloqué ce contenu : aucun paste n’a été créé. Ne l’envoyez pas de nouveau.',
      },
      malformed_request: {
        title: 'Requête mal formée',
        detail: 'Le serveur n’a pas pu interpréter la requête. Corrigez-la, puis envoyez-la de nouveau.',
      },
      validation_failed: {
        title: 'Données non valides',
        detail: 'Corrigez les champs indiqués ci-dessous, puis envoyez de nouveau.',
      },
      unsupported_media_type: {
        title: 'Type de média non pris en charge',
        detail:
          'Cette adresse n’accepte pas le type de contenu envoyé. Envoyez la requête dans le format attendu.',
      },
      unsupported_encoding: {
        title: 'Encodage du contenu non pris en charge',
        detail:
          'L’encodage de la requête n’est pas pris en charge. Envoyez le contenu sans compression ni autre encodage.',
      },
      request_timeout: {
        title: 'Délai dépassé',
        detail:
          'La requête a mis trop de temps à arriver. Envoyez-la de nouveau avec une connexion plus rapide.',
      },
      request_incomplete: {
        title: 'Requête incomplète',
        detail: 'La requête s’est interrompue avant la fin. Envoyez-la de nouveau en entier.',
      },
      request_headers_too_large: {
        title: 'En-têtes de requête trop volumineux',
        detail:
          'L’URL ou les en-têtes sont trop longs. Envoyez une URL plus courte et des en-têtes moins nombreux ou plus courts.',
      },
      unauthorized: {
        title: 'Accès non autorisé',
        detail:
          'La connexion ou le jeton nécessaire manque ou n’est pas valable. Connectez-vous ou vérifiez le jeton, puis réessayez.',
      },
      insufficient_scope: {
        title: 'Non permis avec ce jeton',
        detail:
          'Ce jeton ne permet pas cette action. Utilisez un jeton qui la permet, ou demandez-en un à l’administrateur.',
      },
      invitation_not_found: {
        title: 'Invitation introuvable',
        detail:
          'Aucune invitation n’a ce lien. Vérifiez qu’il est complet. Là où un fournisseur d’identité connecte les utilisateurs, les invitations ne sont pas acceptées.',
      },
      invitation_ended: {
        title: 'Invitation terminée',
        detail:
          'Cette invitation a déjà servi, a expiré ou a été remplacée par une autre. Demandez-en une nouvelle à l’administrateur.',
      },
      token_not_found: {
        title: 'Jeton introuvable',
        detail:
          'Vous n’avez pas de jeton avec cet identifiant, ou il a déjà été révoqué. Consultez vos jetons.',
      },
      token_limit_reached: {
        title: 'Trop de jetons',
        detail:
          'Vous avez atteint le nombre maximal de jetons valables. Révoquez-en un dont vous n’avez plus besoin.',
      },
      webhook_not_found: {
        title: 'Webhook introuvable',
        detail:
          'Vous n’avez pas de webhook avec cet identifiant, ou il a été retiré. Consultez vos webhooks.',
      },
      webhook_limit_reached: {
        title: 'Trop de webhooks',
        detail:
          'Vous avez atteint le nombre maximal de webhooks. Retirez-en un dont vous n’avez plus besoin.',
      },
      webhooks_off: {
        title: 'Pas de webhooks',
        detail: 'Ce service n’envoie pas de webhooks : son administrateur ne les a pas configurés.',
      },
      webhook_switched_off: {
        title: 'Webhook désactivé par l’administrateur',
        detail:
          'L’administrateur de ce service a désactivé le webhook. Adressez-vous à lui, ou retirez le webhook.',
      },
      webhook_off: {
        title: 'Webhook désactivé',
        detail: 'Ce webhook est désactivé. Activez-le d’abord.',
      },
      delivery_not_found: {
        title: 'Livraison introuvable',
        detail:
          'Ce webhook n’a pas de livraison avec cet identifiant, ou elle a été supprimée en raison de son âge.',
      },
      delivery_waiting: {
        title: 'Événement déjà en attente',
        detail: 'Cet événement attend déjà d’être envoyé à ce webhook.',
      },
      cross_site_request: {
        title: 'Formulaire envoyé depuis un autre site',
        detail:
          'Le formulaire n’a pas été envoyé depuis une page de ce service, ou le navigateur n’indique pas d’où. Ouvrez la page de ce service et réessayez, en https et avec un navigateur récent.',
      },
      user_changed: {
        title: 'L’utilisateur connecté a changé',
        detail:
          'Vous vous êtes connecté ou déconnecté depuis l’ouverture de cette page. Rien n’a été fait. Ouvrez de nouveau la page et vérifiez qui est connecté.',
      },
      route_not_found: {
        title: 'Adresse introuvable',
        detail: 'Il n’y a rien à cette adresse. Vérifiez l’URL, ou rechargez la page.',
      },
      method_not_allowed: {
        title: 'Méthode non autorisée',
        detail: 'Cette adresse n’accepte que l’envoi d’un formulaire. Revenez à la page du formulaire.',
      },
      range_not_satisfiable: {
        title: 'Plage hors du contenu',
        detail: 'La plage demandée est hors du contenu. Demandez une plage qui s’y trouve.',
      },
      precondition_failed: {
        title: 'Condition préalable non remplie',
        detail: 'Le contenu ne correspond pas à l’ETag envoyé. Lisez l’ETag actuel, puis réessayez.',
      },
      stream_unavailable: {
        title: 'Trop de clients en attente',
        detail: 'Trop de clients attendent en ce moment. Réessayez dans un instant.',
      },
      overloaded: {
        title: 'Trop de données en transit',
        detail: 'Le service traite trop de données en ce moment. Réessayez un peu plus tard.',
      },
      dependency_unavailable: {
        title: 'Temporairement indisponible',
        detail: 'Une partie de ce service est momentanément indisponible. Réessayez un peu plus tard.',
      },
      malformed_message: {
        title: 'Erreur interne',
        detail: 'Un message interne n’a pas le format attendu.',
      },
      internal: {
        title: 'Erreur interne',
        detail:
          'Une erreur s’est produite dans le service. Réessayez ; si elle persiste, indiquez l’identifiant de requête à l’administrateur.',
      },
    },
  },
};
