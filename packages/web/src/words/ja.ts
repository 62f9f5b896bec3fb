// "paste" (the thing that is shared) is ペースト; the action of pasting is 貼り付け.
import { pluralsIn } from './plurals.ts';
import type { Translation } from './translation.ts';

const plural = pluralsIn<'other'>('ja');

export const ja: Translation = {
  locale: 'ja',
  name: '日本語',
  direction: 'ltr',
  choice: '表示言語',
  units: { kib: 'KiB', mib: 'MiB', gib: 'GiB' },
  back: (page: string) => `← ${page}`,
  skipToContent: 'コンテンツにスキップ',
  navigation: 'メインメニュー',
  newPaste: '新規ペースト',
  newPasteShort: '新規',
  newPasteRest: 'ペースト',
  documentation: 'API',
  list: { filter: '絞り込む', pages: '一覧のページ', first: '最初のページ', next: '次のページ →' },
  intro: (house: string) =>
    `${house} はテキストやファイルをお好きな期間だけ保存し、共有するための短いリンクを発行します。`,
  houseLinks: { imprint: '運営者情報', privacy: 'プライバシー', terms: '利用規約' },
  reportAbuse: '不正利用を通報',

  themes: {
    auto: '配色: システムに合わせる',
    light: '配色: ライト',
    dark: '配色: ダーク',
  },
  keys: {
    title: 'キーボードショートカット',
    option: 'ショートカットを使う',
    close: '閉じる',
  },

  form: {
    title: '新規ペースト',
    content: 'テキスト',
    placeholder: 'ここにテキストを貼り付けるか、入力してください。',
    contentHint:
      'Ctrl+Enter でペーストを作成します。Tab で字下げし、Esc の後に Tab で入力欄から移動します。ファイルはページのどこにでもドロップできます。',
    file: 'またはファイル',
    addFile: 'ファイルを追加',
    fileName: 'ファイル名',
    atMost: (size: string) => `上限は ${size} です。`,
    labels: {
      title: 'タイトル（任意）',
      syntax: '言語',
      expires_in: '有効期間',
      visibility: '公開範囲',
      burn: '閲覧されたらペーストを削除',
      slug: 'リンク名（任意）',
    },
    hints: {
      burn: 'リンクを開くとボタンが表示されます。最初にボタンを押した人だけがテキストを閲覧でき、その後は誰も閲覧できません。',
      slug: '英小文字、数字、ハイフンで 3～64 文字（先頭と末尾にハイフンは使えません）。リンクの末尾が ~name になります。',
    },
    choices: {
      visibility: {
        unlisted: 'リンクを知っている全員',
        members: 'リンクを知っているサインイン済みの人',
        private: '自分のみ',
      },
    },
    detectSyntax: '自動検出',
    detectedSyntax: '検出: {name}',
    expiries: {
      3600: '1 時間',
      86400: '1 日',
      604800: '1 週間',
      2592000: '30 日',
      31536000: '1 年',
      never: '無期限',
    },
    expiresAfter: (time: string) => time,
    burnOnly: 'ログインしていない場合は、閲覧されると削除されるペーストだけを作成できます。',
    closed: 'ここでペーストを作成するには、ログインしてください。閲覧に必要なのはリンクだけです。',
    slugRefused: (reason: string) => `このリンク名は使えません: ${reason}`,
    removeFile: '外す',
    removeNamed: (name: string) => `${name} を外す`,
    bothWithoutScript:
      'テキストとファイルの両方が指定されていましたが、ペーストにできるのはどちらか一方です。テキストは入力欄に残っています。このままペーストを作成するか、テキストを削除してファイルを選択し直してください。',
    several: {
      each: '1 件ずつペーストにする',
      created: '{count} 件のペーストを作成しました',
      refused: '作成できなかったもの',
      copyAll: 'すべてのリンクをコピー',
    },
    fileAgain: 'ファイルを選択していた場合は、もう一度選択してください。',
    more: 'その他のオプション',
    submit: 'ペーストを作成',
    privacy: 'リンクを知っている人は誰でも、このペーストを閲覧できます。',
    empty: 'テキストを入力するか、ファイルを選択してください。',
    unreachable: 'サーバーから応答がありません。テキストは入力欄に残っています。もう一度お試しください。',
    userChanged:
      'このフォームを開いた後にサインインまたはサインアウトが行われたため、何も作成されませんでした。',
    createAs: (name: string) => `${name} として作成`,
    createAsNobody: 'サインインせずに作成',
  },

  secret: {
    doorsLabel: '作成するもの',
    doors: { text: 'テキスト', secret: 'シークレット' },
    title: '新規シークレット',
    intro: 'シークレットは 1 人だけに見せるものです。リンクから 1 回だけ表示され、その後は削除されます。',
    placeholder: 'パスワードや鍵などの秘密の情報を、ここに貼り付けるか、入力してください。',
    submit: 'シークレットのリンクを作成',
    submitPlain: '暗号化せずに作成',
    insecure:
      'このページは https で読み込まれていないため、ブラウザーは暗号化できず、送信した内容を途中で第三者に読まれるおそれがあります。https で開くか、コマンド pasteflow put --secret を使ってください。',
    needsScript:
      'このページでの暗号化には JavaScript が必要です。JavaScript を有効にしてページを再読み込みするか、コマンド pasteflow put --secret を使ってください。',
    unencrypted:
      '暗号化しなくても、閲覧されると削除されるシークレットを作成できますが、それまではサービス側で内容を読むことができます。',
    next: 'リンクをコピーして、1 人だけに送ってください。リンクを開いただけではボタンが表示されるだけで、最初にボタンを押した人がシークレットを閲覧します。',
  },

  created: {
    title: 'ペーストを作成しました',
    link: 'ペーストのリンク',
    deleteToken: '削除トークン',
    deleteTokenHint:
      'このトークンを知っている人は、ペーストを削除できます。表示されるのはこのページだけです。',
    kept: 'ペーストのページから削除できるように、作成したペーストの削除トークンがこのブラウザーに保存されています。共有のパソコンをお使いの場合:',
    forget: 'すべてのトークンを消去',
    forgotten: 'トークンを消去しました。このトークンを残しておくには、コピーしてください。',
    readers: {
      unlisted: 'リンクを知っている全員が閲覧可能',
      members: 'サインイン済みの人のみ閲覧可能',
      private: '自分のみ閲覧可能',
    },
    readOnce: '最初に閲覧されると削除',
    open: 'ペーストを開く',
    another: '別のペーストを作成',
    copy: 'コピー',
    copyLink: 'リンクをコピー',
    copied: 'コピー済み',
    notCopied: 'コピー失敗',
    keyHint:
      '鍵はリンクの一部で、それを知っているのはこのページだけです。完全なリンクがなければ、誰もペーストを閲覧できません。',
  },

  paste: {
    untitled: '無題のペースト',
    plainText: 'プレーンテキスト',
    files: (count: number) => plural(count, { other: '# 個のファイル' }),
    andOthers: (count: number) => plural(count, { other: 'ほか # 件' }),
    fileList: 'ファイル一覧',
    file: 'ファイル',
    downloadAll: 'すべてダウンロード',
    emptyFile: 'このファイルは空です。',
    badges: { members: 'メンバー限定', private: '非公開', burn: '閲覧 1 回限り', encrypted: '暗号化' },
    language: '言語',
    created: '作成日時',
    expiresLine: '有効期限:',
    neverExpiresLine: '無期限',
    upload: 'アップロード:',
    uploadStates: { IN_PROGRESS: '進行中', PROCESSED: '保存済み', FAILED: '失敗' },
    timeline: 'タイムライン',
    raw: '生データ',
    download: 'ダウンロード',
    copy: '全文をコピー',
    copied: 'コピー済み',
    copyFailed: 'コピー失敗',
    copyLink: 'リンクをコピー',
    share: '共有',
    copyLines: '行へのリンクをコピー',
    copyMarkdown: 'Markdown としてコピー',
    more: 'その他',
    show: '表示',
    wrap: '折り返し',
    tabSize: 'タブ幅',
    tabSizeAuto: '言語に合わせる',
    qr: 'QR コード',
    qrOf: (url: string) => `${url} の QR コード`,
    fork: 'これを元に新規作成',
    edit: '編集',
    editWithToken: '削除トークンで編集',
    changes: '変更点',
    lines: '行を選択',
    linesWrong: '行番号（例: 12）または行の範囲（例: 12-20）を入力してください。',
    lineSelected: '{first} 行目を選択しました。',
    linesSelected: '{first} 行目から {last} 行目までを選択しました。',
    lineMissing: '{first} 行目から {last} 行目までのうち、このページにない行があります。',
    views: '表示形式',
    source: 'ソース',
    rendered: 'プレビュー',
    rendering: 'プレビューを作成しています…',
    notRendered: 'このテキストは複雑すぎるため、プレビューできません。ソースを表示しています。',
    notLoaded: 'テキストを整形できませんでした。ページを再読み込みして、もう一度お試しください。',
    needsScript: 'プレビューには JavaScript が必要です',
    sourceOnly: (size: string) => `${size} を超える Markdown はソースで表示されます。`,
    image: '画像',
    alerts: { note: '注記', tip: 'ヒント', important: '重要', warning: '警告', caution: '注意' },
    imageOf: (format: string) => `${format} 画像`,
    imageAlt: (paste: string) => `画像「${paste}」`,
    openImage: '画像を開く',
    binary: 'バイナリファイル',
    binaryHint: 'テキストではないため、このページには内容を表示できません。',
    asText: 'テキストとして表示',
    content: 'ペーストの内容',
    inProgress: 'このペーストはアップロード中です。保存されると、すぐにこのページにテキストが表示されます。',
    notUtf8:
      'このペーストの一部のバイトは UTF-8 ではないため、� と表示されています。ダウンロードしたファイルには元のバイト列がそのまま含まれます。',
    bidi: 'このテキストには、文字の表示方向を変える文字が含まれており、プログラムが読み取る内容が隠されるおそれがあります。このページでは、代わりに [U+202E] のようなコードを表示します。',
    longLines: (characters: string) =>
      `${characters} 文字を超える行は、このページでは折り返して表示されます。元のテキストはそのままダウンロードできます。`,
    cut: (lines: string) =>
      `このページには最初の ${lines} 行だけが表示されています。全文はダウンロードできます。`,
    deleteTitle: 'このペーストを削除',
    deleteMenu: '削除',
    deleteHint: '削除トークンは、ペーストの作成時に表示されたものです。',
    deleteToken: '削除トークン',
    deleteOwnHint: 'これはあなたのペーストです。削除したペーストは復元できません。',
    deleteButton: '完全に削除',
    deleted: 'ペーストを削除しました',
    deletedText: 'ペーストは削除されました。復元はできません。',
    rightAddress: {
      title: 'アドレスの # が %23 になっています',
      text: 'メールソフトなどがアドレスを書き換えました。このページから正しいアドレスに移動します。JavaScript が無効な場合は、リンクを開いてください。',
    },
  },

  diff: {
    madeFrom: '元のペースト:',
    madeFromHint:
      '新しいペーストの閲覧者には、このコードが表示されます。閲覧者は、閲覧が許可されていれば元のペーストを開いて、変更点を確認できます。',
    parentMissing:
      '元のペーストを閲覧できなくなりました。下のフォームからは元のペーストの指定を外してあります。もう一度ペーストを作成してください。',
    notText: '元のペーストはテキストではないため、内容は入力されていません。',
    tooLong: (size: string) =>
      `元のペーストのサイズが ${size} を超えているため、テキストの自動入力には JavaScript が必要です。`,
    notFilled:
      '元のペーストのテキストを読み込めませんでした。ページを再読み込みして、もう一度お試しください。',
    title: (paste: string) => `「${paste}」の変更点`,
    heading: '変更点:',
    from: '変更前',
    to: '変更後',
    by: { owner: 'あなたが作成', other: '所有者が作成', token: '匿名' },
    rawOf: (code: string) => `${code} の生データ`,
    lines: '行数',
    counts: (added: string, removed: string) => `追加 +${added}、削除 -${removed}`,
    hunk: (oldNumber: number, newNumber: number) =>
      `変更箇所: 変更前のテキストは ${oldNumber} 行目から、変更後のテキストは ${newNumber} 行目から`,
    groups: { removed: '削除', added: '追加' },
    files: {
      changed: '変更',
      added: '追加',
      removed: '削除',
      renamed: '名前の変更',
      before: '変更前の名前:',
    },
    noNewline: '末尾に改行なし',
    equal: '2 つのテキストは同じです。',
    lineEnds:
      '2 つのテキストは改行コードが異なります（一方は CR LF、もう一方は LF）。改行コードだけが異なる行は、同じ行として表示されます。',
    notUtf8:
      'これらのテキストの一部のバイトは UTF-8 ではないため、� と表示されています。パッチには元のバイト列がそのまま含まれます。',
    command: '変更点をパッチとして取得（元のバイト列のまま）:',
  },

  change: {
    link: 'タイトルや有効期限を変更',
    title: (paste: string) => `ペースト ${paste} を変更`,
    intro: '本文は変わりません。変更はすぐに読者に表示されます。',
    expires: '有効期限',
    keep: '変更しない',
    save: '保存',
    back: 'ペーストに戻る',
  },
  report: {
    link: '通報',
    title: (paste: string) => `ペースト「${paste}」を通報`,
    intro:
      '通報はこのサービスの運営者が確認し、ペーストを残すかどうかを判断します。暗号化されたペーストは運営者も閲覧できないため、内容を説明してください。',
    severalFiles:
      'このペーストには複数のファイルがあり、通報はすべてのファイルを対象とします。問題のファイルを記入してください。',
    reason: '理由',
    reasons: {
      illegal: '違法な内容',
      copyright: '著作権の侵害',
      malware: 'マルウェア',
      phishing: 'フィッシング',
      personal_data: '個人情報または認証情報',
      spam: 'スパム',
      other: 'その他',
    },
    text: '問題の内容（任意）',
    contact: 'メールアドレス（任意）',
    contactHint:
      '運営者から確認の連絡をする場合に使用します。記入内容とメールアドレスは、判断から数週間後に削除されます。',
    send: '通報を送信',
    done: '通報を送信しました',
    doneText: 'このサービスの運営者が内容を確認し、判断します。',
    held: '多くの閲覧者がこのペーストを通報しました。運営者が判断するまで、閲覧できるのはあなただけです。',
  },

  history: {
    title: (name: string) => `${name} のバージョン`,
    intro: '新しい順に表示しています。期限切れや削除済みのバージョン、閲覧できないバージョンは含まれません。',
    version: (number: number) => `バージョン ${number}`,
    versionOf: (number: number, newest: number) => `バージョン ${number} / ${newest}`,
    older: (slug: string) => `~${slug} は、このペーストの古いバージョンを指しています。`,
    move: (slug: string) => `~${slug} をこのバージョンに移動`,
    newer: 'このペーストには新しいバージョンがあります。',
    openNewer: '開く',
    newerChanges: '変更点を見る',
    compareHint: 'バージョンを 1 つ選び、別のバージョンの「比較」を押すと、2 つの間の変更点が表示されます。',
    compareFrom: (number: number) => `バージョン ${number} から比較`,
    compare: '比較',
    compareWith: (number: number) => `バージョン ${number} と比較`,
    restore: '復元',
    restoreOne: (number: number) => `バージョン ${number} を復元`,
  },

  edit: {
    title: (paste: string) => `${paste} を編集`,
    of: '新しいバージョンの元:',
    save: '新しいバージョンを保存',
    keep: '前のバージョンと同じ',
    hint: '前のバージョンの読者には、新しいバージョンへのリンクが表示されます。前のバージョンは、期限切れになるか削除されるまで残ります。',
    keptFiles: '残すファイル',
    keptHint:
      '選択したファイルは、同じ名前のファイルがあれば置き換え、なければ末尾に追加します。JavaScript を有効にすると、ここでファイル名や本文も変更できます。',
    tokenHint:
      'そのバージョンの作成時に表示されたトークンです。新しいバージョンには別のトークンが発行されます。',
    conflict: (code: string) => `${code} は新しいバージョンですが、このテキストには反映されていません。`,
    conflictHint: '変更点を確認してください。保存すると、このテキストがその次のバージョンになります。',
    saved: '新しいバージョンを保存しました',
  },

  burn: {
    explanation:
      'このペーストは 1 回だけ閲覧できます。ボタンを押すと内容が表示され、ペーストは削除されます。',
    readers: '最初に表示した人だけが閲覧でき、その後は誰も閲覧できません。',
    helpTitle: '内容が届かない場合',
    help: '5 分以内に、テキストを表示するはずだったページを再読み込みしてください。テキストでも画像でもない内容はファイルとして保存されます。その場合は、もう一度ボタンを押してください。リンクを開き直すと、別の閲覧者として扱われます。',
    reveal: 'テキストを表示してペーストを削除',
    revealFiles: 'ファイルを表示してペーストを削除',
    command: 'コマンドラインの場合:',
    revealed:
      'ペーストは削除されました。必要な内容はコピーするか、ダウンロードしてください。末尾が欠けている場合は、すぐにこのページを再読み込みしてください（5 分間有効です）。',
    revealedImage:
      'ペーストは削除されました。画像を保存してください。ダウンロードとこのページの再読み込みは、5 分間有効です。',
  },

  receipt: {
    title: '取得されました',
    fetched: '取得',
    somebody: 'リンクを知る誰か',
    by: (reader: string) => `取得者: ${reader}`,
    meaning: '「取得」は内容が送信されたことを意味します。すべて届いたか、復号できたかは分かりません。',
    notYet: 'まだ誰も取得していません。',
    unnamed: 'このペーストの作成者には、取得されたことが表示されます。',
    named: (reader: string) => `このペーストの作成者には、あなた（${reader}）が取得したことが表示されます。`,
  },
  encryption: {
    option: 'このブラウザーで暗号化',
    password: 'パスワード（任意）',
    passwordHint:
      '閲覧には、リンクとパスワードの両方が必要になります。パスワードは、リンクとは別の方法で閲覧者に伝えてください。',
    failed: 'ブラウザーでペーストを暗号化できませんでした。',
    insecure:
      'ブラウザーで暗号化や復号ができるのは、https で読み込まれたページだけです。このページを https で開くか、コマンド pasteflow を使ってください。',
    readers: '鍵を含む完全なリンクがなければ、ペーストを開けません。',
  },

  encrypted: {
    title: '暗号化されたペースト',
    needsScript:
      'このペーストは暗号化されており、ブラウザーで復号するには JavaScript が必要です。JavaScript を有効にして、ページを再読み込みしてください。',
    password: 'パスワード',
    decrypt: '復号',
    qr: '鍵を含むリンクの QR コード',
    document: '暗号化ドキュメント',
    explanationTitle: '暗号化で防げること',
    explanation:
      'ペーストは、作成者のブラウザーで暗号化されます。鍵はリンクの # より後ろにあり、ブラウザーがこの部分をサーバーに送信することはありません。そのため、運営者や侵入者、バックアップを入手した人など、このサービスのデータしか持たない人は、ペーストを閲覧できません。ただし、ペーストのサイズ、日時、閲覧者の IP アドレスはサービスに知られます。また、復号用のスクリプトもこのサービスが配信しています。悪意のあるサービスや侵害されたサービスは、鍵を読み取る別のスクリプトを配信するおそれがあります。完全なリンク（パスワードがある場合はパスワードも）を知っている人は誰でも、ペーストを閲覧できます。',
    inBrowser: {
      loading: '暗号化されたペーストを読み込んでいます…',
      decrypting: '復号しています…',
      noKey:
        'リンクが不完全です。# の後ろの鍵がありません。完全なリンクを開くか、作成者に問い合わせてください。',
      unreachable:
        'サーバーからペーストを取得できませんでした。ページを再読み込みして、もう一度お試しください。',
      notRevealed:
        'サーバーからペースト全体を取得できませんでした。このページを再読み込みせずに、5 分以内にもう一度ボタンを押してください。',
      gone: 'このペーストは、すでに閲覧されたか、削除されたか、有効期限が切れています。',
      notShown: 'このページでは、ペーストを復号できなかったか、内容を表示できません。',
      outdated:
        'このブラウザーではペーストを復号できません。ブラウザーを更新するか、別のブラウザーでリンクを開いてください。',
      revealed:
        'ペーストは削除され、このページにしか残っていません。必要な内容はコピーするか、ダウンロードしてください。',
      tooLarge: '復号されたペーストは、大きすぎるためこのページでは扱えません。',
      askPassword:
        'ペーストにパスワードが設定されているか、リンクの鍵が正しくありません。パスワードを入力してください。',
      wrong: 'パスワードまたはリンクの鍵が正しくないか、ペーストが改変されています。',
      onlyCopy:
        'ペーストはサービスから削除されており、残っているのはこのページにあるものだけです。パスワードまたはアドレス内の鍵を修正するか、暗号化ドキュメントをダウンロードしてください。コマンド pasteflow cat --from FILE で復号できます。',
      saveDocument: '暗号化ドキュメントをダウンロード',
      attachment: '「NAME」をダウンロード',
    },
  },

  timeline: {
    title: (paste: string) => `タイムライン: ${paste}`,
    back: 'ペーストに戻る',
    intro: 'データベースに記録された、このペーストのすべての状態と、アップロードのすべての試行です。',
    chart: '状態と試行の推移',
    paste: 'ペースト',
    job: 'ジョブ',
    attempt: (number: number) => `試行 ${number}`,
    transitions: '状態遷移',
    attempts: '試行',
    retries: '再試行',
    from: '遷移前',
    to: '遷移後',
    at: '日時（UTC）',
    after: '経過時間',
    by: '実行者',
    reason: '理由',
    subject: '対象',
    state: '状態',
    due: '予定',
    started: '開始',
    finished: '終了',
    error: 'エラー',
    waiting: '待機中',
    running: '実行中',
    states: {
      SUCCEEDED: '成功',
      NOT_EXPIRED: '期限内',
      DELETION_IN_PROGRESS: '削除中',
      DELETED: '削除済み',
    },
    reasons: {
      claimed: '取得',
      interrupted: '中断',
      yielded: '後回し',
      worker_lost: 'ワーカーの喪失',
      dead_letter: '配信不能メッセージ',
      lost_too_often: '喪失の繰り返し',
      storage_unavailable: 'ストレージ利用不可',
      storage_refused: 'ストレージによる拒否',
      database_unavailable: 'データベース利用不可',
      content_damaged: '内容の破損',
      work_failed: '処理の失敗',
      cancelled: 'キャンセル',
      internal: '内部エラー',
      expired: '期限切れ',
      object_deleted: 'オブジェクト削除済み',
      revealed: '閲覧済み',
      endpoint_failed: '受信側の失敗',
      endpoint_off: 'Webhook の無効化または削除',
      claimed_too_long: '取得時間の超過',
      stranded: '停滞',
      retried: '再試行',
      other: 'その他',
    },
    machines: { paste_upload: 'アップロード', paste_deletion: '削除', task_execution: '試行' },
    none: '状態遷移はまだありません。',
  },

  myPastes: {
    title: 'マイペースト',
    titleFilter: 'タイトルかファイル名に含む語',
    upload: 'アップロード',
    readers: '公開範囲',
    visibilities: { unlisted: '限定公開', members: 'メンバー限定', private: '非公開' },
    anyState: 'すべて',
    order: '並び順',
    newestFirst: '新しい順',
    byExpiry: '期限が近い順',
    cut: '新しいものから 10,000 件のペーストを並べ替えています。',
    paste: 'ペースト',
    selectAll: 'すべて選択',
    selectOne: (name: string) => `「${name}」を選択`,
    copyLinkOf: (name: string) => `「${name}」のリンクをコピー`,
    selected: '{all} 件中 {count} 件',
    deleteSelected: '選択項目を削除…',
    none: 'ペーストはまだありません。',
    usedPastes: (used: string, allowed: string) => `ペースト ${used} / ${allowed} 件`,
    usedSize: (used: string, allowed: string) => `${used} / ${allowed}`,
    noMatch: '条件に一致するペーストはありません。',
    noneYet:
      'これらのペーストのうち新しい 10,000 件には、一致するものがありませんでした。続けて、古いペーストを検索できます。',
    confirm: (count: number) => plural(count, { other: '# 件のペーストを削除しますか？' }),
    confirmHint: '削除したペーストは復元できません。',
    keep: (count: number) => plural(count, { other: '削除しない' }),
    deleted: (count: number) => plural(count, { other: '# 件のペーストを削除しました。' }),
  },
  myJobs: {
    title: 'マイジョブ',
    anyState: 'すべて',
    anyType: 'すべて',
    none: 'ジョブはまだありません。インポートではアーカイブ内のファイルからペーストを作成し、エクスポートではすべてのペーストを 1 つのアーカイブにまとめます。',
    noMatch: '条件に一致するジョブはありません。',
    all: 'すべてのジョブを表示',
    importTitle: 'インポート',
    file: 'ファイル',
    fileHint: 'zip、tar、tar.gz ではファイルごとに、NDJSON では 1 行ごとに、1 件のペーストを作成します。',
    asOnePaste: 'アーカイブのすべてのファイル（100 個まで）を 1 件のペーストにする',
    startImport: 'インポートを開始',
    exportTitle: 'エクスポート',
    exportHint: '内容のあるすべてのペーストを、1 つ以上のアーカイブにまとめます。',
    format: '形式',
    startExport: 'エクスポートを開始',
  },
  job: {
    types: { import: 'インポート', export: 'エクスポート' },
    titled: (type: string) => `${type}:`,
    type: '種類',
    state: '状態',
    states: {
      queued: '待機中',
      processing: '実行中',
      completed: '完了',
      partial: '一部完了',
      failed: '失敗',
    },
    cancelled: 'キャンセル済み',
    progress: '進捗',
    waiting: 'ジョブは順番を待っています。',
    ended: '終了日時',
    cancel: 'このジョブをキャンセル',
    cancelHint: 'ジョブはすぐに終了します。すでに作成されたものは残ります。',
    cancelButton: 'ジョブをキャンセル',
    retry: 'ジョブを再試行',
    retryHint: '新しいジョブで、まだインポートされていないものをインポートします。',
    retryOf: { name: '再試行元', link: '以前のジョブ' },
    retriedAs: { name: '再試行先', link: '新しいジョブ' },
    result: '結果',
    counts: {
      imported: 'インポート済み',
      imported_earlier: '以前にインポート済み',
      failed: '失敗',
      exported: 'エクスポート済み',
      skipped: 'スキップ（macOS がアーカイブに追加したもの）',
      missing_count: '内容なし',
      left_out: '除外（閲覧されると削除されるもの）',
      bytes: 'サイズ',
    },
    errors: 'インポートされなかった項目',
    position: '項目',
    entry: (number: number) => `項目 ${number}`,
    line: (number: number) => `${number} 行目`,
    name: '名前',
    reason: '理由',
    missing: '内容のないペースト',
    download: 'アーカイブをダウンロード',
    downloadArchive: (number: number) => `アーカイブ ${number} をダウンロード`,
    archivesRemoved:
      'このエクスポートのアーカイブは削除されました。残るのは、最新の 3 回のエクスポートのアーカイブだけです。',
    downloadOf: (type: string) => `ダウンロード: ${type}`,
    downloadHint: 'リンクの有効期間は数分間です。ページを再読み込みすると、新しいリンクになります。',
    pastes: 'ペースト',
    newestPastes: (count: number) => plural(count, { other: '最新の # 件を表示しています。' }),
    allPastes: 'すべてのペーストを表示',
  },
  requests: {
    asked: '秘密の送付を依頼されています',
    askedBy: '依頼者',
    left: (count: number) => plural(count, { other: 'あと # 件を受け付けます' }),
    quotation: 'このサービスを通じた依頼（依頼者の言葉）:',
    caution: '誰が何のために依頼しているかを確認できる場合にだけ、秘密を送ってください。',
    unchecked: 'この文面は誰も確認していません。',
    report: 'この依頼を通報',
    ownRequest: 'これはあなたの依頼です。ほかの人にはこのように表示されます。',
    openOwn: '届いたものを見る',
    needsScript:
      '暗号化と復号はお使いのブラウザーで行われ、JavaScript が必要です。JavaScript を有効にして、ページを再読み込みしてください。',
    secret: '秘密の内容',
    placeholder: '秘密をここに入力するか、貼り付けてください。',
    keys: 'Tab で字下げし、Esc の後に Tab で入力欄から移動します。ファイルはページのどこにでもドロップできます。',
    send: '暗号化して送信',
    privacy:
      '秘密は、この端末を出る前にブラウザーで暗号化されます。開けるのは依頼者だけで、このサービスの運営者にも開けません。',
    explanation:
      'リンクの # より後ろには鍵があり、ブラウザーがこの部分をサーバーに送信することはありません。送った内容は、対になるもう一方の鍵でしか開けず、それを持つのは依頼者だけです。そのため、運営者や侵入者、バックアップを入手した人など、このサービスのデータしか持たない人は、内容を閲覧できません。ただし、サイズ、日時、あなたの IP アドレスはサービスに知られます。また、暗号化用のスクリプトもこのサービスが配信しています。悪意のあるサービスや侵害されたサービスは、入力内容を読み取る別のスクリプトを配信するおそれがあります。',
    sent: '秘密を送信しました',
    sentText: '開けるのは依頼者だけです。このページは閉じてかまいません。',
    receipt: '受付番号',
    receiptHint: '問い合わせの際に、送ったものを示す番号です。これで何かを開くことはできません。',
    another: '別の秘密を送る',
    inBrowser: {
      brokenLink:
        'リンクが不完全です。# より後ろの鍵がないか、間違っています。リンク全体を開くか、もう一度送ってもらってください。',
      outdated:
        'このブラウザーでは暗号化と復号ができません。更新するか、別のブラウザーでリンクを開いてください。',
      unloaded: 'ページの一部を読み込めませんでした。ページを再読み込みしてください。',
      encrypting: '暗号化しています…',
      sending: '送信しています…',
      failed: 'ブラウザーで暗号化できませんでした。',
      noRoom: '依頼者の保存容量に空きがありません。依頼者に知らせて、後でもう一度お試しください。',
    },

    title: 'マイリクエスト',
    intro:
      'パスワードや鍵ファイルなどの秘密を送ってもらえます。相手にアカウントは必要ありません。秘密は相手のブラウザーで暗号化され、開けるのはあなただけです。',
    make: '秘密の送付を依頼',
    message: '依頼の内容（任意）',
    messageHint: 'リンクを知っている人は誰でも読めます。リンクやアドレスは書けません。',
    messageRefused: 'リンクやアドレスを取り除いてください。',
    deposits: '受け付ける秘密の数',
    submit: '依頼を作成',
    notMade: 'サーバーから応答がありません。もう一度お試しください。依頼が二重に作成されることはありません。',
    listTitle: '依頼の一覧',
    none: '依頼はまだありません。',
    noMessage: '文面のない依頼',
    states: { OPEN: '受付中', USED_UP: '完了', CANCELLED: '終了', EXPIRED: '期限切れ' },
    arrived: (count: number, all: number) => `${all} 件中 ${count} 件が到着`,
    made: '作成',

    one: '秘密の依頼',
    ownLink: 'あなた専用のリンク',
    save: 'このリンクを保存してください。これがないと、このサービスの運営者も含め、届いたものを誰も開けません。',
    download: 'リンクをファイルとしてダウンロード',
    saved: '保存しました',
    askLink: '相手に送るリンク',
    pass: '秘密を持っている人に、このリンクを送ってください。このリンクで何かを開くことはできません。',
    passLater: '専用のリンクを保存すると、相手に送るリンクがここに表示されます。',
    arrivedTitle: '届いたもの',
    nothing: 'まだ何も届いていません。届いたものは、このページにすぐに表示されます。',
    nothingCame: '何も届きませんでした。',
    number: (number: number) => `秘密 ${number}`,
    open: '開く',
    openOne: (number: number) => `秘密 ${number} を開く`,
    gone: '削除済みまたは期限切れ',
    deleteHint: '届いたものはマイペーストにあり、そこで削除できます:',
    withOwnLink: 'あなたの依頼に応じて届いたものなら、その依頼のあなた専用のリンクで開いてください。',
    wrongKey:
      'このリンクの鍵では開けません。別の依頼の鍵であるか、サービスに保存されたデータが変更されています。',
    brokenOwn: 'これはこの依頼の専用リンクではありません。# より後ろが、あなたの鍵ではありません。',
    lostTitle: '鍵がありません',
    lost: 'あなた専用のリンクは # より後ろに鍵があり、届いたものはその鍵でしか開けません。リンクをここに貼り付けてください。ブラウザーの履歴や、ダウンロードしたファイルにあるかもしれません。',
    lostUse: 'このリンクを使う',
    lostForEver:
      'リンクを失くした場合、届いたものは誰にも開けません。この依頼を終了し、新しい依頼を作成して、もう一度依頼してください。',
    cancel: 'この依頼を終了',
    cancelHint: '以後、秘密を受け付けません。届いたものは残ります。',
    cancelButton: '依頼を終了する',
  },
  webhooks: {
    title: 'マイ Webhook',
    intro:
      'Webhook は、ペースト、ジョブ、依頼に起きたことをあなたのプログラムに知らせます。イベントごとに、署名付きで内容を含まない通知が、指定した URL に送信されます。',
    off: 'Webhook は無効です。このサービスの運営者が設定していません。',
    add: 'Webhook を追加',
    url: 'プログラムの URL',
    urlHint: 'https:// で始まり、インターネットから到達できる URL です。',
    urlProblems: {
      'is not a URL': 'URL ではありません。',
      'is too long': 'URL が長すぎます。',
      'has a user name or a password': 'URL にユーザー名やパスワードを含めることはできません。',
      'has a fragment': 'URL に # とその後ろの文字を含めることはできません。',
      'is not https on port 443': 'URL は https:// で始め、ポートは指定しないでください。',
      'is not public': 'このアドレスにはインターネットから到達できません。',
    },
    events: 'イベント',
    noEvents: 'イベントを 1 つ以上選択してください。',
    eventNames: {
      'paste.stored': 'ペーストの保存',
      'paste.failed': 'アップロードの失敗',
      'paste.read': 'ペーストの閲覧',
      'paste.deleted': 'ペーストの削除',
      'paste.expired': 'ペーストの期限切れ',
      'deposit.arrived': '秘密の到着',
      'job.ended': 'ジョブの終了',
    },
    eventHints: {
      'paste.stored': '内容がストレージに保存されました。',
      'paste.failed': 'ストレージが内容を受け付けませんでした。',
      'paste.read': '閲覧されると削除されるペーストを、誰かが閲覧しました。',
      'paste.deleted': 'あなたまたは運営者が削除しました。',
      'paste.expired': '有効期限が過ぎました。',
      'deposit.arrived': 'あなたの依頼に誰かが応じました。',
      'job.ended': 'インポートまたはエクスポートが完了したか、失敗しました。',
    },
    submit: 'Webhook を追加する',
    full: (count: number) =>
      `Webhook は ${count} 件あり、これ以上は追加できません。追加するには、どれかを削除してください。`,
    listTitle: 'Webhook の一覧',
    none: 'Webhook はまだありません。',
    states: { on: '有効', failing: '失敗中', off: '無効' },
    added: '追加:',
    made: 'Webhook を追加しました',
    changed: '署名シークレットを変更しました',
    secret: '署名シークレット',
    secretHint:
      '再表示できないため、今すぐコピーしてください。あなたのプログラムは、これと Standard Webhooks（standardwebhooks.com）のライブラリを使って、配信がこのサービスからのものであることを確認します。',
    changedHint: '24 時間は、1 つ前のシークレットでも配信に署名します。',

    one: 'Webhook',
    failingSince: '失敗の開始:',
    failingHint: 'それ以降、成功した配信はありません。成功がないまま 3 日経つと、Webhook は無効になります。',
    offSince: '無効化:',
    offFor: {
      gone: 'あなたのプログラムが、URL はもう存在しないと応答しました（ステータス 410）。そのため、Webhook は無効になりました。',
      failing: '3 日間、成功した配信がありませんでした。そのため、Webhook は無効になりました。',
      operator: 'このサービスの運営者が Webhook を無効にしました。理由は運営者にお問い合わせください。',
    },
    switchOn: '有効にする',
    switchOnHint: '無効だった間に起きたことは送信されません。',
    deliveries: '配信',
    noDeliveries: '配信はまだありません。',
    deliveryStates: { WAITING: '待機中', DELIVERED: '配信済み', FAILED: '失敗' },
    subjects: { short_code: 'ペースト', job_id: 'ジョブ', request_id: '依頼' },
    attempt: (number: number, all: number) => `試行 ${number} / ${all}`,
    next: '次の試行:',
    answered: (status: number) => `応答: ${status}`,
    again: '再送信',
    sendAgain: '再送信',
    sendOneAgain: (event: string, time: string) => `再送信: ${event}、${time}`,
    change: '署名シークレットを変更',
    changeHint:
      '新しいシークレットは一度だけ表示されます。プログラムを切り替えられるように、24 時間は新しいものと 1 つ前のものの両方で配信に署名します。それより古いものは、すぐに使えなくなります。',
    changeButton: '新しいシークレットを作成',
    remove: 'この Webhook を削除',
    removeHint: 'この URL には、以後何も送信されません。配信の記録も削除されます。',
    removeButton: 'Webhook を削除する',
  },
  mySessions: {
    title: 'マイセッション',
    intro:
      'あなたのアカウントでログインしているブラウザーの一覧です。セッションは最長 12 時間続き、開始に使ったトークンが無効になると終了します。招待で開始したセッションは最長 30 日間続きます。',
    byToken: 'トークン:',
    byProvider: (host: string | null) => (host === null ? 'ID プロバイダー経由' : `${host} 経由`),
    byInvitation: '招待',
    otherDevice: '別の端末でログインするには、トークンを作成し、その端末で入力してください。',
    begun: '開始:',
    lastUsed: '最終使用:',
    ends: '終了予定:',
    endButton: '終了',
    endOne: (begun: string) => `${begun} に開始したセッションを終了`,
    thisBrowser: 'このブラウザー',
    endOthers: 'ほかのセッションをすべて終了',
  },
  myTokens: {
    title: 'マイトークン',
    intro:
      'トークンを使うと、プログラムからあなたの権限で操作できます。トークンが無効になると、それを使って作成したトークンも無効になり、開始したセッションも終了します。',
    none: 'トークンはありません。',
    make: 'トークンを作成',
    name: '名前',
    nameHint: '例: このトークンを使うパソコンの名前',
    scope: '権限',
    scopes: { full: '読み取り、書き込み、トークンの作成', write: '読み取りと書き込み', read: '読み取りのみ' },
    expiry: '有効期間',
    expiries: { 604800: '1 週間', 2592000: '30 日', 7776000: '90 日', 31536000: '1 年' },
    submit: 'トークンを作成',
    made: (name: string) => `トークン「${name}」を作成しました`,
    secret: 'トークン',
    secretHint:
      '再表示できないため、今すぐコピーしてください。このトークンを知っている人は誰でも、あなたの権限で操作できます。',
    cannotMake: 'トークンはすべて、このサービスの運営者が作成します。',
    notFull:
      '自分で作成したトークンでログインしています。トークンを作成または取り消すには、運営者から受け取ったトークン、または ID プロバイダーでログインしてください。',
    created: '作成:',
    lastUsed: '最終使用:',
    neverUsed: '未使用',
    expires: '有効期限:',
    neverExpires: '無期限',
    revoke: '取り消す',
    revokeOne: (name: string) => `トークン「${name}」を取り消す`,
  },
  person: { as: (name: string, host: string) => `${name}(${host} による名前)` },
  myAccount: {
    title: 'マイアカウント',
    exportTitle: 'ペーストのエクスポート',
    exportHint:
      'ジョブがすべてのペーストを 1 つ以上のアーカイブにまとめます。消去する前に、すべてのアーカイブをダウンロードしてください。',
    eraseTitle: 'すべて消去',
    eraseHint:
      'あなたのペースト、ジョブ、アーカイブ、トークン、Webhook、セッション、および名前が完全に削除されます。元に戻すことは誰にもできません。',
    notFull:
      '自分で作成したトークンでログインしています。すべてを消去するには、運営者から受け取ったトークン、または ID プロバイダーでログインしてください。',
    nameField: 'あなたの名前',
    nameHint: '確認のため、次のとおり正確に入力してください:',
    nameError: '名前が一致しません。何も削除されていません。',
    erase: 'すべて消去',
    erased: 'すべて消去しました',
    erasedHint: 'トークンは無効になり、セッションは終了しました。ペーストとジョブは数分以内に削除されます。',
    goOn: 'ログインせずに続ける',
  },
  signIn: {
    title: 'ログイン',
    link: 'ログイン',
    signedInAs: 'ログイン中:',
    signOut: 'ログアウト',
    intro:
      'ログインすると、自分のペーストとジョブが表示され、ここで作成するペーストはあなたのものになります。',
    token: 'API トークン',
    tokenHint:
      'トークンは、このサービスの運営者から受け取るか、「マイトークン」で作成できます。ログアウトするかブラウザーを閉じるまで、最長 12 時間ログインしたままになります。',
    invitationHint:
      'トークンがない場合は、運営者に招待を頼んでください。招待は、開くとログインできるリンクです。以前の招待で開始したセッションは終了します。',
    submit: 'ログイン',
    without: 'ログインせずに続ける',
    byProvider: (host: string) => `${host} でログイン`,
    orToken: 'または、トークンでログインします。',
    onlyReads:
      '読み取りのみのトークンでログインしているため、ここでは何も送信できません。ログアウトするか、別のトークンでログインしてから、このページをもう一度開いてください。',
    done: 'ログインしました',
    goOn: '続ける',
  },
  invitation: {
    title: '招待が届いています',
    intro: (name: string) =>
      `このリンクを使うと、このブラウザーは ${name} として 30 日間ログインします。使えるのは一度だけです。ログインしたままにしたい端末で使ってください。このブラウザーで別のユーザーがログイン中の場合は、ログアウトされます。`,
    accept: 'この端末でログイン',
    accepted: (name: string) => `このブラウザーは ${name} として 30 日間ログインしています。`,
    another:
      'この端末をなくした場合やログアウトした場合は、運営者に新しい招待を頼んでください。新しい招待が作成されると、このセッションは終了します。',
  },

  members: {
    arrival: '少々お待ちください',
    arrivalWhy:
      '別のサイトからこのページが開かれました。ログインしているかどうかをブラウザーが伝えられるように、自動的に次へ進みます。',
    arrivalAsks:
      '別のサイトからこのページが開かれました。ログインしているかどうかをブラウザーが伝えられるように、「続ける」を押してください。',
  },

  problem: {
    correct: '次の項目を修正して、フォームをもう一度送信してください:',
    unknownPage: {
      title: 'ページが見つかりません',
      detail: 'このアドレスにページはありません。URL を確認してください。',
    },
    failedTitle: 'このペーストのアップロードに失敗しました',
    failedDetail:
      'ストレージにテキストを保存できず、アップロードの試行は終了しました。このアドレスに表示できるものはありません。日時と理由はタイムラインで確認できます。',
    failedHelp:
      'このサービスの運営者は、24 時間以内であればアップロードを再試行できます。成功すると、ペーストがここに表示されます。または、ペーストを作成し直してください。',
    back: '新しいペーストを作成',
    timeline: 'タイムラインを表示',
    signIn: '閲覧が限定されている場合はログイン',
    requestId: 'リクエスト ID',
    of: {
      invalid_transition: {
        title: '現在の状態と競合しています',
        detail: '現在の状態では、この操作を実行できません。ページを再読み込みして、状態を確認してください。',
      },
      short_code_taken: {
        title: '空いている短縮コードがありません',
        detail: '空いている短縮コードが見つかりませんでした。少し待ってから、もう一度お試しください。',
      },
      slug_taken: {
        title: 'リンク名はすでに使用されています',
        detail: 'このリンク名は、別のペーストで使用されています。別のリンク名を選んでください。',
      },
      slug_limit_reached: {
        title: 'リンク名が多すぎます',
        detail:
          'リンク名を付けたペーストの数が上限に達しています。このペーストはリンク名なしで作成してください。削除したペーストも、リンク名が解放されるまで数に含まれます。',
      },
      slug_moved: {
        title: 'リンク名は別のペーストを指しています',
        detail:
          'このリンク名は現在、別のペーストを指しています。そのペーストを確認し、必要であれば、そこからあらためて移動してください。',
      },
      slug_move_refused: {
        title: 'リンク名は移動されませんでした',
        detail:
          'ペーストが条件を満たしていないため、リンク名は移動されませんでした。両方のペーストの状態を確認するか、新しいバージョンを作成してください。',
      },
      paste_not_found: {
        title: 'ペーストが見つかりません',
        detail: 'このアドレスに、表示できるペーストはありません。URL を確認してください。',
      },
      paste_gone: {
        title: 'ペーストは期限切れか削除済みです',
        detail:
          'ペーストは、有効期限が切れたか、削除されたか、1 回限りの閲覧が済んでいます。復元はできません。',
      },
      paste_taken_down: {
        title: 'ペーストの公開は停止されました',
        detail: 'このサービスの運営者が、ペーストの公開を停止しました。',
      },
      paste_held: {
        title: 'ペーストの公開は保留されています',
        detail: '多くの閲覧者がペーストを通報したため、このサービスの運営者が確認するまで閲覧できません。',
      },
      paste_in_progress: {
        title: 'ペーストはまだ保存されていません',
        detail: 'ペーストはアップロード中です。少し待ってから、もう一度お試しください。',
      },
      parent_not_found: {
        title: '元のペーストが見つかりません',
        detail:
          '元のペーストを閲覧できません。存在しないか、期限切れか、削除済みか、閲覧されると削除されるペーストです。短縮コードを修正するか、元のペーストを指定せずに送信してください。',
      },
      superseded: {
        title: '新しいバージョンがあります',
        detail:
          'このペーストの新しいバージョンがすでに保存されています。内容を確認し、必要であれば、そちらを編集してください。',
      },
      file_not_found: {
        title: 'このペーストにそのファイルはありません',
        detail:
          'この名前のファイルはこのペーストにありません。含まれるファイルはペーストのページで確認できます。',
      },
      not_several_files: {
        title: 'このペーストに複数のファイルはありません',
        detail:
          'このペーストは一つのテキストまたはファイルで、ファイル名を持ちません。アドレスからコードの後の部分を除いて開いてください。',
      },
      no_diff: {
        title: 'このペーストの変更点は表示できません',
        detail: '元のペーストがないか、削除されたか、閲覧できないため、変更点を表示できません。',
      },
      diff_unavailable: {
        title: 'ペーストを比較できません',
        detail:
          '暗号化されたペーストや大きなテキストは、サーバーでは比較できません。両方のペーストを開いて、手元で比較してください。',
      },
      report_settled: {
        title: '通報は対応済みです',
        detail:
          '運営者がすでにこの内容への通報を確認し、残すと判断しました。今回の通報は記録されていません。',
      },
      request_not_found: {
        title: '依頼が見つかりません',
        detail: 'このアドレスに依頼はありません。リンクを確認してください。',
      },
      request_closed: {
        title: 'この依頼は受け付けを終了しました',
        detail:
          'この依頼は期限が切れたか、取り消されました。リンクを送ってきた人に、新しいリンクを頼んでください。',
      },
      request_used_up: {
        title: 'この依頼は満たされています',
        detail:
          'この依頼は、受け付ける数をすべて受け取りました。リンクを送ってきた人に、新しいリンクを頼んでください。',
      },
      request_ended: {
        title: '依頼は終了しています',
        detail: 'この依頼は、受け付ける数をすべて受け取りました。取り消すものはありません。',
      },
      request_limit_reached: {
        title: '受け付け中の依頼が多すぎます',
        detail: '受け付け中の依頼が上限に達しています。1 件を取り消すか、期限が切れるまでお待ちください。',
      },
      reveal_required: {
        title: 'ペーストは閲覧されると削除されます',
        detail:
          'このペーストは 1 回だけ閲覧できます。ペーストのページのボタンを押すか、POST リクエストを送信して閲覧してください。',
      },
      nothing_to_reveal: {
        title: 'ペーストは閲覧されても削除されません',
        detail: 'このペーストは閲覧されても残ります。通常どおり GET で閲覧してください。',
      },
      job_not_found: {
        title: 'ジョブが見つかりません',
        detail: 'この ID のジョブはありません。URL を確認してください。',
      },
      job_forbidden: {
        title: 'ほかのユーザーのジョブです',
        detail: 'このジョブは、ほかのユーザーのものです。所有者のトークンを使ってください。',
      },
      job_ended: {
        title: 'ジョブは終了しています',
        detail: 'このジョブはすでに終了しており、キャンセルするものはありません。',
      },
      job_not_retryable: {
        title: 'ジョブは再試行できません',
        detail:
          '再試行できるのは、失敗または一部完了したジョブのうち、まだ再試行されておらず、元のデータが残っているものだけです。必要であれば、新しいジョブを作成してください。',
      },
      execution_taken: {
        title: '内部エラー',
        detail: 'この処理は別のプロセスによって終了されました。処理を中止してください。',
      },
      idempotency_key_reused: {
        title: 'Idempotency-Key が再利用されています',
        detail:
          'この Idempotency-Key は、別のリクエストで使われています。新しいリクエストには、新しいキーを使ってください。',
      },
      idempotency_key_in_use: {
        title: 'Idempotency-Key は使用中です',
        detail:
          '同じ内容がすでに送信されています。少し待ってから、このページを再読み込みするか、同じキーでもう一度送信してください。',
      },
      rate_limited: {
        title: 'リクエストが多すぎます',
        detail:
          '一定時間内のリクエスト、または同時に処理中のリクエストが多すぎます。しばらくしてから、もう一度お試しください。',
      },
      quota_exceeded: {
        title: '保存の上限に達しました',
        detail:
          'このペーストを作成すると、保存できる量の上限を超えます。ペーストを削除してから、もう一度お試しください。削除したペーストも、内容が消去されるまでの間は使用量に含まれます。',
      },
      storage_full: {
        title: 'ストレージに空きがありません',
        detail:
          'このサービスには、このペーストを保存する空き容量がありません。運営者に問い合わせるか、後でもう一度お試しください。',
      },
      content_empty: {
        title: '内容が空です',
        detail: 'テキストを入力するか、空でないファイルを選択して、送信してください。',
      },
      content_too_large: {
        title: '内容が大きすぎます',
        detail: '送信された内容はサイズの上限を超えています。小さくしてから、もう一度送信してください。',
      },
      content_blocked: {
        title: '内容がブロックされています',
        detail:
          'この内容はこのサービスの運営者がブロックしているため、ペーストは作成されませんでした。再送信しないでください。',
      },
      malformed_request: {
        title: 'リクエストの形式が正しくありません',
        detail: 'このリクエストの形式では処理できません。修正してから、もう一度送信してください。',
      },
      validation_failed: {
        title: '入力内容に誤りがあります',
        detail: '下に示す項目を修正して、もう一度送信してください。',
      },
      unsupported_media_type: {
        title: '対応していないメディアタイプです',
        detail:
          '送信された Content-Type または文字コードには対応していません。対応している形式で送信してください。',
      },
      unsupported_encoding: {
        title: '対応していないエンコーディングです',
        detail:
          '本文は Content-Encoding を指定せずに送信してください。Transfer-Encoding に使えるのは chunked だけです。',
      },
      request_timeout: {
        title: 'リクエストがタイムアウトしました',
        detail: 'リクエストの受信に時間がかかりすぎました。より速い回線で、もう一度送信してください。',
      },
      request_incomplete: {
        title: 'リクエストが不完全です',
        detail: '本文が途中で終わりました。リクエスト全体をもう一度送信してください。',
      },
      request_headers_too_large: {
        title: 'リクエストヘッダーが大きすぎます',
        detail:
          'URL またはヘッダーが長すぎます。URL を短くするか、ヘッダーを減らすか短くして送信してください。',
      },
      unauthorized: {
        title: '認証されていません',
        detail:
          '有効なトークン、削除トークン、またはログインが必要です。トークンが正しいか、期限が切れていないかを確認するか、もう一度ログインしてください。',
      },
      insufficient_scope: {
        title: 'このトークンでは許可されていません',
        detail:
          'このトークンには、この操作の権限がありません。必要な権限のあるトークンを使うか、運営者に問い合わせてください。',
      },
      invitation_not_found: {
        title: '招待が見つかりません',
        detail:
          'このリンクの招待はありません。リンク全体をコピーしたか確認してください。ID プロバイダーでログインするサービスでは、招待は使えません。',
      },
      invitation_ended: {
        title: 'この招待はもう使えません',
        detail:
          'この招待は使用済みか、期限が切れたか、新しい招待に置き換えられました。運営者に新しい招待を頼んでください。',
      },
      token_not_found: {
        title: 'トークンが見つかりません',
        detail: 'この ID のトークンはないか、すでに取り消されています。トークンの一覧を確認してください。',
      },
      token_limit_reached: {
        title: 'トークンが多すぎます',
        detail: '有効なトークンの数が上限に達しています。不要なトークンを取り消してください。',
      },
      webhook_not_found: {
        title: 'Webhook が見つかりません',
        detail: 'この ID の Webhook はないか、削除されています。Webhook の一覧を確認してください。',
      },
      webhook_limit_reached: {
        title: 'Webhook が多すぎます',
        detail: 'Webhook の数が上限に達しています。不要な Webhook を削除してください。',
      },
      webhooks_off: {
        title: 'Webhook は利用できません',
        detail: 'このサービスは Webhook を送信しません。運営者が設定していません。',
      },
      webhook_switched_off: {
        title: '運営者が Webhook を無効にしました',
        detail:
          'このサービスの運営者が Webhook を無効にしました。運営者に問い合わせるか、Webhook を削除してください。',
      },
      webhook_off: {
        title: 'Webhook は無効です',
        detail: 'この Webhook は無効です。先に有効にしてください。',
      },
      delivery_not_found: {
        title: '配信が見つかりません',
        detail: 'この Webhook にこの ID の配信はないか、古いため削除されています。',
      },
      delivery_waiting: {
        title: 'イベントはすでに待機中です',
        detail: 'このイベントは、すでにこの Webhook への送信を待っています。',
      },
      cross_site_request: {
        title: '別のサイトから送信されました',
        detail:
          'フォームがこのサービスのページから送信されていないか、ブラウザーが送信元を示していません。最新のブラウザーと https でこのサービスを開き、もう一度お試しください。',
      },
      user_changed: {
        title: 'サインインしているユーザーが変わりました',
        detail:
          'このページを開いた後にサインインまたはサインアウトが行われたため、何も実行されませんでした。ページを開き直し、誰がサインインしているかを確認してください。',
      },
      route_not_found: {
        title: 'アドレスが見つかりません',
        detail: 'このアドレスには何もありません。URL を確認するか、ページを再読み込みしてください。',
      },
      method_not_allowed: {
        title: '許可されていないメソッドです',
        detail:
          'このアドレスは、フォームから送信された内容だけを受け付けます。フォームのページに戻ってください。',
      },
      range_not_satisfiable: {
        title: '指定された範囲は無効です',
        detail: '要求された範囲は、内容のサイズに収まりません。サイズ内の範囲を指定してください。',
      },
      precondition_failed: {
        title: '前提条件が満たされていません',
        detail: '内容の ETag が If-Match と一致しません。現在の ETag を取得して、もう一度お試しください。',
      },
      stream_unavailable: {
        title: '待機中のクライアントが多すぎます',
        detail: '現在、待機中のクライアントが多すぎます。少し待ってから、もう一度お試しください。',
      },
      overloaded: {
        title: '転送中のデータが多すぎます',
        detail: '現在、送受信されているデータが多すぎます。しばらくしてから、もう一度送信してください。',
      },
      dependency_unavailable: {
        title: '一時的に利用できません',
        detail:
          'このサービスに必要なシステムを一時的に利用できません。しばらくしてから、もう一度お試しください。',
      },
      malformed_message: {
        title: '内部エラー',
        detail: '内部のメッセージの形式が正しくありません。',
      },
      internal: {
        title: '内部エラー',
        detail:
          'サーバーでエラーが発生しました。もう一度お試しください。解決しない場合は、リクエスト ID を添えて運営者に連絡してください。',
      },
    },
  },
};
