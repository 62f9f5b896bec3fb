// "paste" stays "paste", masculine: el paste, los pastes.
import { pluralsIn } from './plurals.ts';
import type { Translation } from './translation.ts';

const plural = pluralsIn<'one' | 'many' | 'other'>('es');

export const es: Translation = {
  locale: 'es',
  name: 'Español',
  direction: 'ltr',
  choice: 'Idioma de las páginas',
  units: { kib: 'KiB', mib: 'MiB', gib: 'GiB' },
  back: (page: string) => `← ${page}`,
  skipToContent: 'Ir al contenido',
  navigation: 'Páginas',
  newPaste: 'Nuevo paste',
  newPasteShort: 'Nuevo',
  newPasteRest: ' paste',
  documentation: 'API',
  list: {
    filter: 'Filtrar',
    pages: 'Páginas de la lista',
    first: 'Primera página',
    next: 'Página siguiente →',
  },
  intro: (house: string) =>
    `${house} guarda un texto o un archivo el tiempo que usted elija y le da un enlace corto para compartirlo.`,
  houseLinks: { imprint: 'Aviso legal', privacy: 'Privacidad', terms: 'Condiciones de uso' },
  reportAbuse: 'Denunciar un abuso',

  themes: {
    auto: 'Colores: los del sistema',
    light: 'Colores: claros',
    dark: 'Colores: oscuros',
  },
  keys: {
    title: 'Atajos de teclado',
    option: 'Usar estos atajos',
    close: 'Cerrar',
  },

  form: {
    title: 'Nuevo paste',
    content: 'Texto',
    placeholder: 'Pegue o escriba aquí el texto.',
    contentHint:
      'Ctrl+Enter crea el paste. Tab aplica sangría; con Esc y luego Tab se sale del texto. Puede soltar archivos en cualquier parte de la página.',
    file: 'O archivos',
    addFile: 'Añadir un archivo',
    fileName: 'Nombre del archivo',
    atMost: (size: string) => `Máximo: ${size}.`,
    labels: {
      title: 'Título (opcional)',
      syntax: 'Lenguaje',
      expires_in: 'Expiración',
      visibility: 'Quién puede leerlo',
      burn: 'Eliminar el paste cuando se lea',
      slug: 'Nombre en el enlace (opcional)',
    },
    hints: {
      burn: 'El enlace muestra un botón. Quien lo pulse primero lee el texto, y después nadie más puede leerlo.',
      slug: 'De 3 a 64 letras minúsculas, cifras y guiones, sin guion al principio ni al final: el enlace termina entonces en ~name.',
    },
    choices: {
      visibility: {
        unlisted: 'Cualquiera que tenga el enlace',
        members: 'Quien tenga el enlace y haya iniciado sesión',
        private: 'Solo usted',
      },
    },
    detectSyntax: 'Detectar automáticamente',
    detectedSyntax: 'Detectado: {name}',
    expiries: {
      3600: '1 hora',
      86400: '1 día',
      604800: '1 semana',
      2592000: '30 días',
      31536000: '1 año',
      never: 'Nunca',
    },
    expiresAfter: (time: string) => time,
    burnOnly: 'Sin iniciar sesión, solo puede crear pastes que se eliminan cuando se leen.',
    closed: 'Para crear pastes aquí, inicie sesión. Para leer uno, basta con su enlace.',
    slugRefused: (reason: string) => `Este nombre no se acepta: ${reason}`,
    removeFile: 'Quitar',
    removeNamed: (name: string) => `Quitar ${name}`,
    bothWithoutScript:
      'El formulario tenía un texto y un archivo, pero un paste es solo una de las dos cosas. Este es el texto: cree el paste, o borre el texto y vuelva a elegir el archivo.',
    several: {
      each: 'Un paste por archivo',
      created: 'Pastes creados: {count}',
      refused: 'No creados',
      copyAll: 'Copiar todos los enlaces',
    },
    fileAgain: 'Si había elegido archivos, vuelva a elegirlos.',
    more: 'Más opciones',
    submit: 'Crear paste',
    privacy: 'Cualquiera que tenga el enlace puede leer el paste.',
    empty: 'Escriba un texto o elija un archivo.',
    unreachable: 'El servidor no ha respondido. Su texto sigue aquí: inténtelo de nuevo.',
    userChanged: 'Ha iniciado o cerrado sesión desde que abrió este formulario. No se ha creado nada.',
    createAs: (name: string) => `Crear como ${name}`,
    createAsNobody: 'Crear sin iniciar sesión',
  },

  secret: {
    doorsLabel: 'Lo que crea',
    doors: { text: 'Texto', secret: 'Secreto' },
    title: 'Nuevo secreto',
    intro: 'Un secreto es para una sola persona: su enlace lo muestra una vez y después se elimina.',
    placeholder: 'Pegue o escriba aquí una contraseña, una clave u otro secreto.',
    submit: 'Crear enlace secreto',
    submitPlain: 'Crear sin cifrar',
    insecure:
      'Esta página no se ha cargado por https: en ese caso los navegadores no cifran nada y otros pueden leer lo que se envía. Ábrala por https o use el comando pasteflow put --secret.',
    needsScript:
      'Esta página solo cifra con JavaScript. Active JavaScript y vuelva a cargar la página, o use el comando pasteflow put --secret.',
    unencrypted:
      'Sin cifrado también puede crear un secreto que se elimina al leerlo, pero hasta entonces el servicio puede leerlo.',
    next: 'Copie el enlace y envíelo a una sola persona. Al abrirlo solo aparece un botón: quien lo pulse primero lee el secreto.',
  },

  created: {
    title: 'Paste creado',
    link: 'Enlace al paste',
    deleteToken: 'Token de eliminación',
    deleteTokenHint: 'Quien tenga este token puede eliminar el paste. Solo se muestra aquí.',
    kept: 'Este navegador guarda los tokens de eliminación de sus pastes, para que pueda eliminar los pastes desde sus páginas. En un equipo compartido:',
    forget: 'Borrar los tokens de este navegador',
    forgotten: 'Los tokens se han borrado. Copie este si desea conservarlo.',
    readers: {
      unlisted: 'cualquiera que tenga el enlace puede leerlo',
      members: 'solo puede leerlo quien haya iniciado sesión',
      private: 'solo usted puede leerlo',
    },
    readOnce: 'se elimina con la primera lectura',
    open: 'Abrir el paste',
    another: 'Crear otro',
    copy: 'Copiar',
    copyLink: 'Copiar enlace',
    copied: 'Copiado',
    notCopied: 'Error',
    keyHint:
      'La clave forma parte del enlace y solo la conoce esta página: sin el enlace completo, nadie puede leer el paste.',
  },

  paste: {
    untitled: 'Paste sin título',
    plainText: 'Texto plano',
    files: (count: number) => plural(count, { one: '# archivo', many: '# de archivos', other: '# archivos' }),
    andOthers: (count: number) => plural(count, { one: 'y # más', many: 'y # más', other: 'y # más' }),
    fileList: 'Archivos',
    file: 'Archivo',
    downloadAll: 'Descargar todo',
    emptyFile: 'Este archivo está vacío.',
    badges: { members: 'Para miembros', private: 'Privado', burn: 'Lectura única', encrypted: 'Cifrado' },
    language: 'Lenguaje',
    created: 'Creación',
    expiresLine: 'expira',
    neverExpiresLine: 'no expira',
    upload: 'Subida',
    uploadStates: { IN_PROGRESS: 'en curso', PROCESSED: 'completada', FAILED: 'fallida' },
    timeline: 'Cronología',
    raw: 'En bruto',
    download: 'Descargar',
    copy: 'Copiar texto',
    copied: 'Copiado',
    copyFailed: 'No copiado',
    copyLink: 'Copiar enlace',
    share: 'Compartir',
    copyLines: 'Copiar enlace a las líneas',
    copyMarkdown: 'Copiar como Markdown',
    more: 'Más',
    show: 'Mostrar',
    wrap: 'Ajustar líneas',
    tabSize: 'Ancho de tabulación',
    tabSizeAuto: 'Según el lenguaje',
    qr: 'Código QR',
    qrOf: (url: string) => `Código QR de ${url}`,
    fork: 'Nuevo a partir de este',
    edit: 'Editar',
    editWithToken: 'Editar con el token de eliminación',
    changes: 'cambios',
    lines: 'Seleccionar líneas',
    linesWrong: 'Escriba una línea, como 12, o varias, como 12-20.',
    lineSelected: 'Línea {first} seleccionada.',
    linesSelected: 'Líneas {first} a {last} seleccionadas.',
    lineMissing: 'La página no tiene todas las líneas de la {first} a la {last}.',
    views: 'Vista',
    source: 'Código',
    rendered: 'Con formato',
    rendering: 'Aplicando formato al texto…',
    notRendered: 'Este texto es demasiado complejo para mostrarlo con formato. La página muestra su código.',
    notLoaded: 'No se ha podido dar formato al texto. Recargue la página para intentarlo de nuevo.',
    needsScript: 'El formato requiere JavaScript',
    sourceOnly: (size: string) => `El Markdown de más de ${size} se muestra como código.`,
    image: 'Imagen',
    alerts: {
      note: 'Nota',
      tip: 'Consejo',
      important: 'Importante',
      warning: 'Advertencia',
      caution: 'Precaución',
    },
    imageOf: (format: string) => `Imagen ${format}`,
    imageAlt: (paste: string) => `La imagen ${paste}`,
    openImage: 'Abrir la imagen',
    binary: 'Archivo binario',
    binaryHint: 'Este contenido no es texto, por lo que la página no lo muestra.',
    asText: 'Mostrar como texto',
    content: 'Contenido del paste',
    inProgress: 'La subida de este paste está en curso. La página mostrará el texto en cuanto esté guardado.',
    notUtf8:
      'Algunos bytes de este paste no son UTF-8 y se muestran como �. La descarga contiene los bytes exactos.',
    bidi: 'Este texto contiene caracteres que cambian la dirección de escritura y pueden ocultar así lo que lee un programa. La página muestra en su lugar sus códigos, por ejemplo [U+202E].',
    longLines: (characters: string) =>
      `Las líneas de más de ${characters} caracteres se dividen en esta página. La descarga contiene el texto exacto.`,
    cut: (lines: string) =>
      `La página muestra las primeras ${lines} líneas. La descarga contiene el texto completo.`,
    deleteTitle: 'Eliminar este paste',
    deleteMenu: 'Eliminar',
    deleteHint: 'El token de eliminación se mostró al crear el paste.',
    deleteToken: 'Token de eliminación',
    deleteOwnHint: 'El paste es suyo. Un paste eliminado no se puede restaurar.',
    deleteButton: 'Eliminar definitivamente',
    deleted: 'Paste eliminado',
    deletedText: 'El paste se ha eliminado y no se puede restaurar.',
    rightAddress: {
      title: 'La dirección contiene %23 en lugar de #',
      text: 'Un programa, por ejemplo de correo, ha cambiado la dirección. Esta página lleva a la dirección correcta. Sin JavaScript, siga el enlace.',
    },
  },

  diff: {
    madeFrom: 'Creado a partir de',
    madeFromHint:
      'Los lectores del nuevo paste ven este código. Si tienen permiso para leer el paste de origen, pueden abrirlo y ver qué ha cambiado usted.',
    parentMissing:
      'Ya no puede leer el paste de origen. El formulario de abajo ya no hace referencia a él: vuelva a crear el nuevo paste.',
    notText: 'El paste de origen no es texto, por lo que su contenido no se incluye en el formulario.',
    tooLong: (size: string) =>
      `El paste de origen ocupa más de ${size}. Su texto solo se incluye en el formulario con JavaScript.`,
    notFilled:
      'No se ha podido cargar el texto del paste de origen. Recargue la página para intentarlo de nuevo.',
    title: (paste: string) => `Cambios en ${paste}`,
    heading: 'Cambios en',
    from: 'Antes',
    to: 'Después',
    by: { owner: 'por usted', other: 'por su propietario', token: 'anónimo' },
    rawOf: (code: string) => `Texto en bruto de ${code}`,
    lines: 'Líneas',
    counts: (added: string, removed: string) => `+${added} añadidas, -${removed} eliminadas`,
    hunk: (oldNumber: number, newNumber: number) =>
      `Cambios desde la línea ${oldNumber} del texto anterior y la línea ${newNumber} del texto nuevo`,
    groups: { removed: 'Eliminado', added: 'Añadido' },
    files: {
      changed: 'Modificado',
      added: 'Añadido',
      removed: 'Eliminado',
      renamed: 'Renombrado',
      before: 'Nombre anterior:',
    },
    noNewline: 'Sin salto de línea al final',
    equal: 'Los textos son iguales.',
    lineEnds:
      'Los textos tienen finales de línea distintos (CR LF en uno, LF en el otro). Las líneas que solo se diferencian en esto se muestran como iguales.',
    notUtf8:
      'Algunos bytes de estos textos no son UTF-8 y se muestran como �. El parche contiene los bytes exactos.',
    command: 'Los cambios como parche, con los bytes exactos:',
  },

  change: {
    link: 'Cambiar el título o la caducidad',
    title: (paste: string) => `Cambiar el paste ${paste}`,
    intro: 'El texto no cambia. Los lectores ven los cambios de inmediato.',
    expires: 'Caducidad',
    keep: 'Sin cambios',
    save: 'Guardar',
    back: 'Volver al paste',
  },
  report: {
    link: 'Denunciar',
    title: (paste: string) => `Denunciar el paste ${paste}`,
    intro:
      'Los operadores de este servicio leen su denuncia y deciden si el paste se mantiene. No pueden leer un paste cifrado: indique qué contiene.',
    severalFiles:
      'El paste tiene varios archivos y su denuncia se refiere a todos: indique a cuál se refiere.',
    reason: 'Motivo',
    reasons: {
      illegal: 'Contenido ilegal',
      copyright: 'Infracción de derechos de autor',
      malware: 'Malware',
      phishing: 'Phishing',
      personal_data: 'Datos personales o credenciales',
      spam: 'Spam',
      other: 'Otro motivo',
    },
    text: '¿Cuál es el problema? (opcional)',
    contact: 'Su correo electrónico (opcional)',
    contactHint:
      'Para que los operadores puedan hacerle preguntas. El texto y la dirección se eliminan unas semanas después de la decisión.',
    send: 'Enviar la denuncia',
    done: 'Denuncia enviada',
    doneText: 'Un operador de este servicio la revisará.',
    held: 'Muchos lectores han denunciado este paste. Hasta que un operador decida, solo usted puede leerlo.',
  },

  history: {
    title: (name: string) => `Versiones de ${name}`,
    intro:
      'Las más recientes primero. No se muestran las versiones que ya no existen ni las que usted no puede leer.',
    version: (number: number) => `Versión ${number}`,
    versionOf: (number: number, newest: number) => `Versión ${number} de ${newest}`,
    older: (slug: string) => `~${slug} muestra una versión anterior de este paste.`,
    move: (slug: string) => `Mover ~${slug} a esta versión`,
    newer: 'Hay una versión más reciente de este paste.',
    openNewer: 'Abrirla',
    newerChanges: 'Qué ha cambiado',
    compareHint: 'Elija una versión y pulse «Comparar» en otra para ver qué ha cambiado entre las dos.',
    compareFrom: (number: number) => `Comparar desde la versión ${number}`,
    compare: 'Comparar',
    compareWith: (number: number) => `Comparar con la versión ${number}`,
    restore: 'Restaurar',
    restoreOne: (number: number) => `Restaurar la versión ${number}`,
  },

  edit: {
    title: (paste: string) => `Editar ${paste}`,
    of: 'Nueva versión de',
    save: 'Guardar la nueva versión',
    keep: 'Como la versión anterior',
    hint: 'Los lectores de la versión anterior ven un enlace a la nueva. La versión anterior permanece hasta que caduque o se elimine.',
    keptFiles: 'Archivos que se conservan',
    keptHint:
      'Un archivo que elija sustituye al del mismo nombre o se añade al final. Con JavaScript también puede cambiar aquí el nombre y el texto de los archivos.',
    tokenHint: 'Se mostró al crear esa versión. La nueva versión recibe su propio token.',
    conflict: (code: string) => `${code} es una versión más reciente, que su texto no tiene en cuenta.`,
    conflictHint: 'Mire qué ha cambiado. Si guarda, su texto será la versión siguiente.',
    saved: 'Nueva versión guardada',
  },

  burn: {
    explanation: 'Este paste solo se puede leer una vez: el botón muestra el contenido y elimina el paste.',
    readers: 'Lo lee quien lo muestre primero, y después nadie más.',
    helpTitle: 'Si no llega nada',
    help: 'En un plazo de cinco minutos, recargue la página que debía mostrar el texto. El contenido que no es ni texto ni imagen se guarda como archivo: en ese caso, pulse de nuevo el botón. Abrir otra vez el enlace cuenta como la visita de otra persona.',
    reveal: 'Mostrar el texto y eliminar el paste',
    revealFiles: 'Mostrar los archivos y eliminar el paste',
    command: 'En la línea de comandos:',
    revealed:
      'El paste se ha eliminado: copie o descargue lo que necesite. Si falta el final, recargue esta página de inmediato; esto funciona durante cinco minutos.',
    revealedImage:
      'El paste se ha eliminado: guarde la imagen. La descarga y la recarga de esta página funcionan durante cinco minutos.',
  },

  receipt: {
    title: 'Recogido',
    fetched: 'recogido',
    somebody: 'alguien con el enlace',
    by: (reader: string) => `por ${reader}`,
    meaning:
      'Recogido significa que el contenido se envió. No se sabe si llegó entero ni si se pudo descifrar.',
    notYet: 'Nadie lo ha recogido todavía.',
    unnamed: 'Quien creó este paste verá que se ha recogido.',
    named: (reader: string) => `Quien creó este paste verá que usted, ${reader}, lo ha recogido.`,
  },
  encryption: {
    option: 'Cifrar en este navegador',
    password: 'Contraseña (opcional)',
    passwordHint:
      'Los lectores necesitan entonces el enlace y la contraseña. Envíeles la contraseña por otro medio.',
    failed: 'El navegador no ha podido cifrar el paste.',
    insecure:
      'Los navegadores solo cifran y descifran en páginas cargadas por https. Abra esta página por https o use el comando pasteflow.',
    readers: 'Solo el enlace completo, con su clave, abre el paste.',
  },

  encrypted: {
    title: 'Paste cifrado',
    needsScript:
      'Este paste está cifrado, y el navegador necesita JavaScript para descifrarlo. Active JavaScript y recargue la página.',
    password: 'Contraseña',
    decrypt: 'Descifrar',
    qr: 'Código QR del enlace con su clave',
    document: 'Documento cifrado',
    explanationTitle: 'Contra qué protege el cifrado',
    explanation:
      'El navegador del autor cifra el paste. La clave está en el enlace, después del signo #, y los navegadores no envían esa parte a ningún servidor. Quien solo tenga los datos de este servicio, por ejemplo su operador, un intruso o quien acceda a una copia de seguridad, no puede leer el paste. Aun así, el servicio conoce el tamaño del paste, sus fechas y horas y las direcciones IP de sus lectores. También proporciona el script que descifra: un servicio malintencionado o comprometido podría proporcionar otro script que lea la clave. Cualquiera que tenga el enlace completo, y la contraseña si la hay, puede leer el paste.',
    inBrowser: {
      loading: 'Cargando el paste cifrado…',
      decrypting: 'Descifrando…',
      noKey:
        'El enlace está incompleto: falta la clave después del signo #. Abra el enlace completo o pídaselo al autor.',
      unreachable: 'El servidor no ha enviado el paste. Recargue la página para intentarlo de nuevo.',
      notRevealed:
        'El servidor no ha enviado el paste completo. Pulse de nuevo el botón en un plazo de cinco minutos y no recargue esta página.',
      gone: 'El paste ya se ha leído, se ha eliminado o ha expirado.',
      notShown: 'Esta página no ha podido descifrar el paste o no puede mostrar su contenido.',
      outdated: 'Este navegador no puede descifrar el paste. Actualícelo o abra el enlace en otro.',
      revealed: 'El paste se ha eliminado y solo esta página lo conserva: copie o descargue lo que necesite.',
      tooLarge: 'El paste descifrado es demasiado grande para esta página.',
      askPassword: 'El paste tiene contraseña, o la clave del enlace no es correcta. Escriba la contraseña.',
      wrong: 'La contraseña o la clave del enlace no es correcta, o alguien ha modificado el paste.',
      onlyCopy:
        'El servicio ha eliminado el paste, y esta página tiene la única copia. Corrija la contraseña o la clave de la dirección, o descargue el documento cifrado. El comando pasteflow cat --from FILE lo descifra.',
      saveDocument: 'Descargar el documento cifrado',
      attachment: 'Descargar NAME',
    },
  },

  timeline: {
    title: (paste: string) => `Cronología de ${paste}`,
    back: 'Volver al paste',
    intro:
      'Todos los estados de este paste y todos los intentos de subirlo, tal como los registró la base de datos.',
    chart: 'Estados e intentos a lo largo del tiempo',
    paste: 'Paste',
    job: 'Tarea',
    attempt: (number: number) => `Intento ${number}`,
    transitions: 'Transiciones',
    attempts: 'Intentos',
    retries: 'Reintentos',
    from: 'De',
    to: 'A',
    at: 'Hora (UTC)',
    after: 'Transcurrido',
    by: 'Por',
    reason: 'Motivo',
    subject: 'Proceso',
    state: 'Estado',
    due: 'Previsto',
    started: 'Inicio',
    finished: 'Fin',
    error: 'Error',
    waiting: 'en espera',
    running: 'en curso',
    states: {
      SUCCEEDED: 'correcto',
      NOT_EXPIRED: 'no caducado',
      DELETION_IN_PROGRESS: 'eliminándose',
      DELETED: 'eliminado',
    },
    reasons: {
      claimed: 'asignado',
      interrupted: 'interrumpido',
      yielded: 'aplazado',
      worker_lost: 'proceso perdido',
      dead_letter: 'mensaje no entregado',
      lost_too_often: 'perdido demasiadas veces',
      storage_unavailable: 'almacenamiento no disponible',
      storage_refused: 'rechazado por el almacenamiento',
      database_unavailable: 'base de datos no disponible',
      content_damaged: 'contenido dañado',
      work_failed: 'el trabajo ha fallado',
      cancelled: 'cancelado',
      internal: 'error interno',
      expired: 'caducado',
      object_deleted: 'objeto eliminado',
      revealed: 'leído',
      endpoint_failed: 'no aceptado por el programa',
      endpoint_off: 'webhook desactivado o quitado',
      claimed_too_long: 'asignado demasiado tiempo',
      stranded: 'sin continuar',
      retried: 'reintentado',
      other: 'otro motivo',
    },
    machines: { paste_upload: 'subida', paste_deletion: 'eliminación', task_execution: 'intento' },
    none: 'Todavía no hay transiciones.',
  },

  myPastes: {
    title: 'Mis pastes',
    titleFilter: 'En el título o un nombre de archivo',
    upload: 'Subida',
    readers: 'Visibilidad',
    visibilities: { unlisted: 'No listado', members: 'Para miembros', private: 'Privado' },
    anyState: 'Todo',
    order: 'Orden',
    newestFirst: 'Los más recientes primero',
    byExpiry: 'Por vencimiento',
    cut: 'Solo se ordenan sus 10 000 pastes más recientes.',
    paste: 'Paste',
    selectAll: 'Seleccionar todo',
    selectOne: (name: string) => `Seleccionar ${name}`,
    copyLinkOf: (name: string) => `Copiar enlace de ${name}`,
    selected: '{count} de {all}',
    deleteSelected: 'Eliminar selección…',
    none: 'Todavía no tiene pastes.',
    usedPastes: (used: string, allowed: string) => `${used} de ${allowed} pastes`,
    usedSize: (used: string, allowed: string) => `${used} de ${allowed}`,
    noMatch: 'Ningún paste coincide con el filtro.',
    noneYet:
      'No hay coincidencias entre los 10.000 más recientes de estos pastes. La búsqueda continúa con los anteriores.',
    confirm: (count: number) =>
      plural(count, {
        one: '¿Eliminar este paste?',
        many: '¿Eliminar estos # de pastes?',
        other: '¿Eliminar estos # pastes?',
      }),
    confirmHint: 'Un paste eliminado no se puede restaurar.',
    keep: (count: number) =>
      plural(count, { one: 'Conservarlo', many: 'Conservarlos', other: 'Conservarlos' }),
    deleted: (count: number) =>
      plural(count, {
        one: '# paste eliminado.',
        many: '# de pastes eliminados.',
        other: '# pastes eliminados.',
      }),
  },
  myJobs: {
    title: 'Mis tareas',
    anyState: 'Todos',
    anyType: 'Todos',
    none: 'Todavía no tiene tareas. Una importación crea pastes con el contenido de un archivo comprimido, y una exportación crea un archivo con todos sus pastes.',
    noMatch: 'Ninguna tarea coincide con el filtro.',
    all: 'Mostrar todas mis tareas',
    importTitle: 'Importar',
    file: 'Archivo',
    fileHint: 'Con un zip, tar o tar.gz se crea un paste por cada archivo; con NDJSON, uno por cada línea.',
    asOnePaste: 'Crear un solo paste con todos los archivos del zip o tar, 100 como máximo',
    startImport: 'Iniciar importación',
    exportTitle: 'Exportar',
    exportHint: 'Todos sus pastes que tienen contenido, en uno o varios archivos.',
    format: 'Formato',
    startExport: 'Iniciar exportación',
  },
  job: {
    types: { import: 'Importación', export: 'Exportación' },
    titled: (type: string) => `${type} de`,
    type: 'Tipo',
    state: 'Estado',
    states: {
      queued: 'en espera',
      processing: 'en curso',
      completed: 'completada',
      partial: 'parcial',
      failed: 'fallida',
    },
    cancelled: 'cancelada',
    progress: 'Progreso',
    waiting: 'La tarea espera su turno.',
    ended: 'Finalización',
    cancel: 'Cancelar esta tarea',
    cancelHint: 'La tarea termina de inmediato. Lo que ya ha creado se conserva.',
    cancelButton: 'Cancelar la tarea',
    retry: 'Reintentar la tarea',
    retryHint: 'Una tarea nueva importa lo que falta.',
    retryOf: { name: 'Reintento de', link: 'una tarea anterior' },
    retriedAs: { name: 'Reintentada como', link: 'una tarea nueva' },
    result: 'Resultado',
    counts: {
      imported: 'Importados',
      imported_earlier: 'Importados antes',
      failed: 'Fallidos',
      exported: 'Exportados',
      skipped: 'Omitidos, porque macOS los añadió al archivo',
      missing_count: 'Faltantes',
      left_out: 'Excluidos, porque se eliminan al leerlos',
      bytes: 'Tamaño',
    },
    errors: 'Entradas que no se importaron',
    position: 'Entrada',
    entry: (number: number) => `Entrada ${number}`,
    line: (number: number) => `Línea ${number}`,
    name: 'Nombre',
    reason: 'Motivo',
    missing: 'Pastes sin contenido',
    download: 'Descargar el archivo',
    downloadArchive: (number: number) => `Descargar el archivo ${number}`,
    archivesRemoved:
      'Se han eliminado los archivos de esta exportación: solo se conservan los de sus tres exportaciones más recientes.',
    downloadOf: (type: string) => `Descargar: ${type}`,
    downloadHint: 'El enlace es válido durante unos minutos; recargue la página para obtener uno nuevo.',
    pastes: 'Pastes',
    newestPastes: (count: number) =>
      plural(count, {
        one: 'Se muestra el más reciente.',
        many: 'Se muestran los # más recientes.',
        other: 'Se muestran los # más recientes.',
      }),
    allPastes: 'Mostrar todos mis pastes',
  },
  requests: {
    asked: 'Le piden un secreto',
    askedBy: 'Lo pide',
    left: (count: number) =>
      plural(count, {
        one: 'admite # secreto más',
        many: 'admite # de secretos más',
        other: 'admite # secretos más',
      }),
    quotation: 'Pedido a través de este servicio, con las palabras de quien lo pide:',
    caution: 'Envíe un secreto solo si sabe quién lo pide y por qué.',
    unchecked: 'Nadie ha comprobado estas palabras.',
    report: 'Denunciar esta solicitud',
    ownRequest: 'Esta solicitud es suya. Así la ven los demás.',
    openOwn: 'Ver lo que ha llegado',
    needsScript:
      'Su navegador cifra y descifra aquí, y para ello necesita JavaScript. Active JavaScript y recargue la página.',
    secret: 'Su secreto',
    placeholder: 'Escriba o pegue aquí el secreto.',
    keys: 'Tab aplica sangría; con Esc y luego Tab se sale del texto. Puede soltar archivos en cualquier parte de la página.',
    send: 'Cifrar y enviar',
    privacy:
      'Su navegador cifra el secreto antes de que salga de este dispositivo. Solo quien lo pide puede abrirlo, no el operador de este servicio.',
    explanation:
      'El enlace contiene una clave después del signo #, y los navegadores no envían esa parte a ningún servidor. Lo que usted envía solo se abre con la otra mitad de esa clave, que solo tiene quien lo pide. Quien solo tenga los datos de este servicio, por ejemplo su operador, un intruso o quien acceda a una copia de seguridad, no puede leerlo. Aun así, el servicio conoce el tamaño, la hora y su dirección IP. También proporciona el script que cifra: un servicio malintencionado o comprometido podría proporcionar otro script que lea lo que usted escribe.',
    sent: 'Su secreto se ha enviado',
    sentText: 'Solo quien lo ha pedido puede abrirlo. Puede cerrar esta página.',
    receipt: 'Recibo',
    receiptHint: 'Identifica lo que ha enviado, por si hay preguntas. No abre nada.',
    another: 'Enviar otro secreto',
    inBrowser: {
      brokenLink:
        'El enlace está incompleto: la clave después del signo # falta o es incorrecta. Abra el enlace completo o pídalo de nuevo.',
      outdated: 'Este navegador no puede cifrar ni descifrar. Actualícelo o abra el enlace en otro.',
      unloaded: 'No se ha podido cargar una parte de esta página. Recargue la página.',
      encrypting: 'Cifrando…',
      sending: 'Enviando…',
      failed: 'El navegador no ha podido cifrar esto.',
      noRoom:
        'Quien lo pide ya no tiene espacio para lo que se le envía. Avísele e inténtelo de nuevo más tarde.',
    },

    title: 'Mis solicitudes',
    intro:
      'Pida un secreto a alguien, por ejemplo una contraseña o un archivo de clave. No hace falta ninguna cuenta: el navegador de esa persona cifra el secreto, y solo usted puede abrirlo.',
    make: 'Pedir un secreto',
    message: 'Qué pide (opcional)',
    messageHint: 'Lo lee cualquiera que tenga el enlace. No se admiten enlaces ni direcciones.',
    messageRefused: 'Quite los enlaces y las direcciones.',
    deposits: 'Cuántos secretos admite',
    submit: 'Crear la solicitud',
    notMade: 'El servidor no ha respondido. Inténtelo de nuevo: no se crea una segunda solicitud.',
    listTitle: 'Sus solicitudes',
    none: 'Todavía no tiene solicitudes.',
    noMessage: 'Solicitud sin texto',
    states: { OPEN: 'abierta', USED_UP: 'completa', CANCELLED: 'cerrada', EXPIRED: 'caducada' },
    arrived: (count: number, all: number) => `${count} de ${all} recibidos`,
    made: 'Creada',

    one: 'Solicitud de un secreto',
    ownLink: 'Su propio enlace',
    save: 'Guarde este enlace: sin él nadie, ni siquiera el operador de este servicio, puede abrir lo que llegue.',
    download: 'Descargar el enlace como archivo',
    saved: 'Lo he guardado',
    askLink: 'Enlace para los demás',
    pass: 'Envíe este enlace a quien tenga el secreto. No abre nada.',
    passLater: 'Cuando haya guardado su propio enlace, aparecerá aquí el enlace para los demás.',
    arrivedTitle: 'Lo que ha llegado',
    nothing: 'Todavía no ha llegado nada. Esta página muestra lo que llegue en cuanto esté aquí.',
    nothingCame: 'No ha llegado nada.',
    number: (number: number) => `Secreto ${number}`,
    open: 'Abrir',
    openOne: (number: number) => `Abrir el secreto ${number}`,
    gone: 'ya no existe',
    deleteHint: 'Lo que ha llegado está entre sus pastes, donde puede eliminarlo:',
    withOwnLink: 'Si llegó por una solicitud suya, ábralo con su propio enlace de esa solicitud.',
    wrongKey:
      'La clave de este enlace no lo abre: es la de otra solicitud, o alguien ha cambiado lo que guarda el servicio.',
    brokenOwn:
      'Este no es su propio enlace de esta solicitud: lo que sigue al signo # no es ninguna clave suya.',
    lostTitle: 'Falta la clave',
    lost: 'Su propio enlace termina con una clave después del signo #, y solo ella abre lo que llega. Pegue aquí el enlace. Quizá lo encuentre en el historial de su navegador o en el archivo que ha descargado.',
    lostUse: 'Usar este enlace',
    lostForEver:
      'Si el enlace se ha perdido, nadie puede abrir lo que ha llegado. En ese caso, cierre esta solicitud, cree otra y pídalo de nuevo.',
    cancel: 'Cerrar esta solicitud',
    cancelHint: 'Entonces ya no admite más secretos. Lo que ha llegado se conserva.',
    cancelButton: 'Cerrar la solicitud',
  },
  webhooks: {
    title: 'Mis webhooks',
    intro:
      'Un webhook comunica a un programa suyo lo que ocurre con sus pastes, tareas y solicitudes: el servicio envía cada evento a su URL, firmado y sin contenido.',
    off: 'Los webhooks están desactivados: el operador de este servicio no los ha configurado.',
    add: 'Añadir un webhook',
    url: 'URL de su programa',
    urlHint: 'Empieza por https:// y es accesible desde Internet.',
    urlProblems: {
      'is not a URL': 'Esto no es una URL.',
      'is too long': 'La URL es demasiado larga.',
      'has a user name or a password': 'La URL no debe tener nombre de usuario ni contraseña.',
      'has a fragment': 'La URL no debe tener una # seguida de texto.',
      'is not https on port 443': 'La URL debe empezar por https:// y no indicar ningún puerto.',
      'is not public': 'Esta dirección no es accesible desde Internet.',
    },
    events: 'Eventos',
    noEvents: 'Elija al menos un evento.',
    eventNames: {
      'paste.stored': 'Paste guardado',
      'paste.failed': 'Subida fallida',
      'paste.read': 'Paste leído',
      'paste.deleted': 'Paste eliminado',
      'paste.expired': 'Paste caducado',
      'deposit.arrived': 'Secreto recibido',
      'job.ended': 'Tarea terminada',
    },
    eventHints: {
      'paste.stored': 'Su contenido está en el almacenamiento.',
      'paste.failed': 'El almacenamiento no ha aceptado el contenido.',
      'paste.read': 'Alguien ha leído un paste que se elimina al leerlo.',
      'paste.deleted': 'Usted o el operador lo han eliminado.',
      'paste.expired': 'Su plazo ha terminado.',
      'deposit.arrived': 'Alguien ha respondido a una de sus solicitudes.',
      'job.ended': 'Una importación o exportación ha terminado o ha fallado.',
    },
    submit: 'Añadir el webhook',
    full: (count: number) => `Tiene ${count} webhooks, y no puede haber más. Quite uno para añadir otro.`,
    listTitle: 'Sus webhooks',
    none: 'Todavía no tiene webhooks.',
    states: { on: 'activado', failing: 'con errores', off: 'desactivado' },
    added: 'Añadido:',
    made: 'El webhook se ha añadido',
    changed: 'La clave de firma se ha cambiado',
    secret: 'Clave de firma',
    secretHint:
      'Cópiela ahora: no se volverá a mostrar. Con ella y una biblioteca de Standard Webhooks (standardwebhooks.com), su programa comprueba que una entrega procede de este servicio.',
    changedHint: 'Durante 24 horas, las entregas se firman también con la clave anterior.',

    one: 'Webhook',
    failingSince: 'con errores desde:',
    failingHint:
      'Desde entonces no se ha completado ninguna entrega. Tras tres días sin éxito, el webhook se desactiva.',
    offSince: 'desactivado:',
    offFor: {
      gone: 'Su programa respondió con el estado 410 que la URL ya no existe. Por eso se desactivó el webhook.',
      failing: 'Durante tres días no se completó ninguna entrega. Por eso se desactivó el webhook.',
      operator: 'El operador de este servicio ha desactivado el webhook. Solo él puede decir por qué.',
    },
    switchOn: 'Activar',
    switchOnHint: 'Lo que ocurrió mientras estaba desactivado no se envía.',
    deliveries: 'Entregas',
    noDeliveries: 'Todavía no hay entregas.',
    deliveryStates: { WAITING: 'en espera', DELIVERED: 'entregado', FAILED: 'fallido' },
    subjects: { short_code: 'Paste', job_id: 'Tarea', request_id: 'Solicitud' },
    attempt: (number: number, all: number) => `intento ${number} de ${all}`,
    next: 'próximo intento:',
    answered: (status: number) => `respuesta: ${status}`,
    again: 'reenviado',
    sendAgain: 'Reenviar',
    sendOneAgain: (event: string, time: string) => `Reenviar: ${event}, ${time}`,
    change: 'Cambiar la clave de firma',
    changeHint:
      'La nueva clave se muestra una sola vez. Durante 24 horas, las entregas se firman con la nueva y con la anterior, para que su programa pueda cambiar de una a otra. Una clave más antigua deja de valer de inmediato.',
    changeButton: 'Crear una clave nueva',
    remove: 'Quitar este webhook',
    removeHint: 'No se envía nada más a su URL. Sus entregas también se eliminan.',
    removeButton: 'Quitar el webhook',
  },
  mySessions: {
    title: 'Mis sesiones',
    intro:
      'Ha iniciado sesión en estos navegadores. Una sesión dura hasta 12 horas y termina cuando deja de ser válido el token que la inició. La que inicia una invitación dura hasta 30 días.',
    byToken: 'Con el token',
    byProvider: (host: string | null) => (host === null ? 'Con el proveedor de identidad' : `Con ${host}`),
    byInvitation: 'Con una invitación',
    otherDevice: 'Para iniciar sesión en otro dispositivo, cree un token e introdúzcalo allí.',
    begun: 'Inicio:',
    lastUsed: 'último uso:',
    ends: 'fin:',
    endButton: 'Cerrar',
    endOne: (begun: string) => `Cerrar la sesión iniciada el ${begun}`,
    thisBrowser: 'Este navegador',
    endOthers: 'Cerrar las demás sesiones',
  },
  myTokens: {
    title: 'Mis tokens',
    intro:
      'Con un token, los programas actúan en su nombre. Cuando un token deja de ser válido, también dejan de serlo los tokens creados con él y las sesiones que inició.',
    none: 'No tiene tokens.',
    make: 'Crear un token',
    name: 'Nombre',
    nameHint: 'Por ejemplo, el equipo en el que lo usa.',
    scope: 'Permisos',
    scopes: { full: 'leer, escribir y crear tokens', write: 'leer y escribir', read: 'solo leer' },
    expiry: 'Validez',
    expiries: { 604800: '1 semana', 2592000: '30 días', 7776000: '90 días', 31536000: '1 año' },
    submit: 'Crear el token',
    made: (name: string) => `El token ${name} se ha creado`,
    secret: 'Token',
    secretHint: 'Cópielo ahora: no se volverá a mostrar. Cualquiera que lo tenga puede actuar en su nombre.',
    cannotMake: 'Solo el operador de este servicio crea tokens.',
    notFull:
      'Ha iniciado sesión con un token creado por usted. Para crear o revocar tokens, inicie sesión con un token del operador o con el proveedor de identidad.',
    created: 'Creado:',
    lastUsed: 'último uso:',
    neverUsed: 'nunca usado',
    expires: 'expira',
    neverExpires: 'no expira',
    revoke: 'Revocar',
    revokeOne: (name: string) => `Revocar el token ${name}`,
  },
  person: { as: (name: string, host: string) => `${name}, según ${host}` },
  myAccount: {
    title: 'Mi cuenta',
    exportTitle: 'Llévese sus pastes',
    exportHint:
      'Una tarea guarda todos sus pastes en uno o varios archivos. Descárguelos todos antes de borrarlo todo.',
    eraseTitle: 'Borrar todo',
    eraseHint:
      'Esto elimina para siempre sus pastes, tareas, archivos, tokens, webhooks y sesiones, así como su nombre. Nadie puede recuperarlos.',
    notFull:
      'Ha iniciado sesión con un token creado por usted. Para borrarlo todo, inicie sesión con un token del operador o con el proveedor de identidad.',
    nameField: 'Su nombre',
    nameHint: 'Para confirmar, escríbalo exactamente así:',
    nameError: 'Este no es su nombre. No se ha eliminado nada.',
    erase: 'Borrar todo',
    erased: 'Sus datos se han borrado',
    erasedHint: 'Sus tokens y sesiones ya no son válidos. Sus pastes y tareas se eliminarán en unos minutos.',
    goOn: 'Continuar sin iniciar sesión',
  },
  signIn: {
    title: 'Iniciar sesión',
    link: 'Iniciar sesión',
    signedInAs: 'Sesión iniciada como',
    signOut: 'Cerrar sesión',
    intro: 'Así puede ver sus propios pastes y tareas, y los pastes que cree aquí serán suyos.',
    token: 'Token de la API',
    tokenHint:
      'Puede pedir un token al operador de este servicio o crear uno en «Mis tokens». La sesión dura 12 horas como máximo, o hasta que la cierre o cierre el navegador.',
    invitationHint:
      'Si no tiene un token, pida al operador una invitación: un enlace con el que se inicia sesión. Con ella se cierra la sesión que se inició con una invitación anterior.',
    submit: 'Iniciar sesión',
    without: 'Continuar sin iniciar sesión',
    byProvider: (host: string) => `Iniciar sesión con ${host}`,
    orToken: 'O inicie sesión con un token.',
    onlyReads:
      'Ha iniciado sesión con un token que solo permite leer y no puede enviar nada aquí. Cierre la sesión, o iníciela con otro token, y abra de nuevo esta página.',
    done: 'Ha iniciado sesión',
    goOn: 'Continuar',
  },
  invitation: {
    title: 'Tiene una invitación',
    intro: (name: string) =>
      `Este enlace inicia sesión en este navegador como ${name} durante 30 días. Solo funciona una vez: úselo en el dispositivo en el que quiera mantener la sesión iniciada. Si hay otra sesión iniciada en este navegador, se cerrará.`,
    accept: 'Iniciar sesión en este dispositivo',
    accepted: (name: string) => `En este navegador ha iniciado sesión como ${name} durante 30 días.`,
    another:
      'Si pierde este dispositivo o cierra la sesión, pida otra invitación al operador. Al crearla, termina esta sesión.',
  },

  members: {
    arrival: 'Un momento',
    arrivalWhy:
      'Otro sitio le ha traído hasta aquí. Esta página continúa por sí sola, para que su navegador pueda indicar si ha iniciado sesión.',
    arrivalAsks:
      'Otro sitio le ha traído hasta aquí. Pulse «Continuar», para que su navegador pueda indicar si ha iniciado sesión.',
  },

  problem: {
    correct: 'Corrija lo siguiente y envíe de nuevo el formulario:',
    unknownPage: {
      title: 'Página no encontrada',
      detail: 'No hay ninguna página en esta dirección. Compruebe la URL.',
    },
    failedTitle: 'La subida de este paste ha fallado',
    failedDetail:
      'El almacenamiento no aceptó el texto, y ya se han agotado los intentos: no hay nada que mostrar en esta dirección. La cronología indica cuándo y por qué.',
    failedHelp:
      'Durante 24 horas, el operador de este servicio puede reintentar la subida; el paste aparecerá entonces aquí. También puede crear el paste de nuevo.',
    back: 'Crear un nuevo paste',
    timeline: 'Mostrar la cronología',
    signIn: 'Iniciar sesión, si no todos pueden leerlo',
    requestId: 'ID de la solicitud',
    of: {
      invalid_transition: {
        title: 'Conflicto con el estado actual',
        detail: 'El estado actual no permite este cambio. Recargue la página y compruebe el estado.',
      },
      short_code_taken: {
        title: 'No hay ningún código corto libre',
        detail: 'No se ha encontrado ningún código corto libre. Inténtelo de nuevo en unos momentos.',
      },
      slug_taken: {
        title: 'Nombre ya en uso',
        detail: 'Otro paste ya tiene este nombre en el enlace. Elija otro nombre.',
      },
      slug_limit_reached: {
        title: 'Demasiados nombres',
        detail:
          'Ya tiene el número máximo de pastes con un nombre en el enlace. Cree este paste sin nombre. Un paste eliminado cuenta hasta que su nombre queda libre.',
      },
      slug_moved: {
        title: 'El nombre lleva a otro paste',
        detail:
          'El nombre en el enlace lleva ahora a otro paste. Consulte ese paste y mueva el nombre desde allí, si aún lo desea.',
      },
      slug_move_refused: {
        title: 'El nombre no se ha movido',
        detail:
          'El nombre en el enlace no se puede mover entre estos pastes en su estado actual. Elija otro paste suyo, cree una nueva versión o inténtelo más tarde.',
      },
      paste_not_found: {
        title: 'Paste no encontrado',
        detail: 'No hay ningún paste que mostrar en esta dirección. Compruebe la URL.',
      },
      paste_gone: {
        title: 'Paste expirado o eliminado',
        detail: 'El paste ha expirado, se ha eliminado o ya se ha leído. No se puede restaurar.',
      },
      paste_taken_down: {
        title: 'Paste retirado',
        detail: 'El operador de este servicio ha retirado el paste debido a su contenido.',
      },
      paste_held: {
        title: 'Paste retenido',
        detail:
          'Muchos lectores han denunciado el paste. No se puede leer hasta que un operador de este servicio lo revise.',
      },
      paste_in_progress: {
        title: 'Paste aún no guardado',
        detail: 'La subida del paste está en curso. Inténtelo de nuevo en unos momentos.',
      },
      parent_not_found: {
        title: 'Paste de origen no encontrado',
        detail:
          'No puede leer el paste de origen: no existe, ha expirado, se ha eliminado o se elimina al leerlo. Corrija su código corto o envíe el paste sin él.',
      },
      superseded: {
        title: 'El paste tiene una versión más reciente',
        detail:
          'Alguien ha guardado entretanto una versión más reciente de este paste. Consúltela y edítela, si aún lo desea.',
      },
      file_not_found: {
        title: 'El paste no tiene ese archivo',
        detail:
          'El paste no tiene ningún archivo con ese nombre. Su página muestra los archivos que contiene.',
      },
      not_several_files: {
        title: 'El paste no tiene archivos',
        detail:
          'Este paste es un solo texto o un solo archivo, sin nombres de archivos. Ábralo sin lo que sigue a su código en la dirección.',
      },
      no_diff: {
        title: 'Paste sin comparación',
        detail:
          'No hay otro paste con el que comparar este: no se creó a partir de otro, o uno de los dos ya no existe o usted no puede leerlo.',
      },
      diff_unavailable: {
        title: 'Los pastes no se comparan',
        detail:
          'El servidor no compara estos pastes, porque alguno está cifrado o porque los textos son demasiado grandes o demasiado distintos. Lea ambos y compárelos en su equipo, por ejemplo con diff.',
      },
      report_settled: {
        title: 'Denuncias resueltas',
        detail:
          'Un operador ha revisado denuncias de este contenido y ha decidido que se mantiene. Su denuncia no se ha registrado.',
      },
      request_not_found: {
        title: 'Solicitud no encontrada',
        detail: 'No hay ninguna solicitud en esta dirección. Compruebe el enlace.',
      },
      request_closed: {
        title: 'La solicitud ya no acepta nada',
        detail:
          'Esta solicitud ha caducado o se ha cerrado. Pida un enlace nuevo a la persona que se lo envió.',
      },
      request_used_up: {
        title: 'Solicitud completa',
        detail:
          'Esta solicitud ha recibido todo lo que acepta. Pida un enlace nuevo a la persona que se lo envió.',
      },
      request_ended: {
        title: 'La solicitud ha terminado',
        detail: 'La solicitud ha recibido todo lo que acepta. No hay nada que cancelar.',
      },
      request_limit_reached: {
        title: 'Demasiadas solicitudes abiertas',
        detail:
          'Tiene tantas solicitudes abiertas como se permiten. Cancele una o espere a que caduque alguna.',
      },
      reveal_required: {
        title: 'El paste se elimina al leerlo',
        detail:
          'Este paste solo se puede leer una vez y se elimina al leerlo. Abra su enlace para mostrar el texto.',
      },
      nothing_to_reveal: {
        title: 'El paste no se elimina al leerlo',
        detail: 'El paste se conserva después de leerlo. Ábralo con su enlace.',
      },
      job_not_found: {
        title: 'Tarea no encontrada',
        detail: 'No hay ninguna tarea con este ID. Compruebe la URL.',
      },
      job_forbidden: {
        title: 'Tarea de otro usuario',
        detail: 'Esta tarea pertenece a otro usuario. Use un token de su propietario.',
      },
      job_ended: {
        title: 'La tarea ha terminado',
        detail: 'Esta tarea ya ha terminado. No queda nada que cancelar.',
      },
      job_not_retryable: {
        title: 'La tarea no se reintenta',
        detail:
          'Esta tarea no se puede reintentar: no ha fallado, ya se ha reintentado o su contenido ya no existe. Consulte su estado o cree una tarea nueva.',
      },
      execution_taken: {
        title: 'Error interno',
        detail: 'Otro proceso ha terminado esta ejecución. Inténtelo de nuevo.',
      },
      idempotency_key_reused: {
        title: 'Clave de idempotencia reutilizada',
        detail:
          'Esta clave de idempotencia se envió con otra solicitud. Envíe una clave nueva con cada solicitud nueva.',
      },
      idempotency_key_in_use: {
        title: 'Clave de idempotencia en uso',
        detail:
          'Una solicitud con esta clave de idempotencia sigue en curso. Inténtelo de nuevo en unos momentos.',
      },
      rate_limited: {
        title: 'Demasiadas solicitudes',
        detail:
          'Ha alcanzado uno de los límites de este servicio. Espere un poco, o a que terminen sus otras solicitudes o tareas, e inténtelo de nuevo.',
      },
      quota_exceeded: {
        title: 'Cuota agotada',
        detail:
          'Con este paste superaría la cantidad que puede guardar. Elimine pastes e inténtelo de nuevo. Un paste eliminado sigue contando durante un breve tiempo.',
      },
      storage_full: {
        title: 'Almacenamiento lleno',
        detail:
          'Este servicio no tiene espacio para este paste. Consulte a su operador o inténtelo de nuevo más tarde.',
      },
      content_empty: {
        title: 'Contenido vacío',
        detail: 'Envíe un texto o un archivo que no esté vacío.',
      },
      content_too_large: {
        title: 'Contenido demasiado grande',
        detail: 'Lo que ha enviado supera el tamaño permitido. Envíe menos contenido.',
      },
      content_blocked: {
        title: 'Contenido bloqueado',
        detail:
          'El operador de este servicio ha bloqueado este contenido, por lo que no se ha creado ningún paste. No lo envíe de nuevo.',
      },
      malformed_request: {
        title: 'Solicitud mal formada',
        detail:
          'El servidor no puede atender la solicitud tal como se ha enviado. Corríjala y envíela de nuevo.',
      },
      validation_failed: {
        title: 'Datos no válidos',
        detail: 'Corrija los campos que se indican abajo y vuelva a enviarlos.',
      },
      unsupported_media_type: {
        title: 'Tipo de contenido no admitido',
        detail:
          'El servidor no admite aquí este tipo de contenido. Envíe la solicitud con un tipo admitido y en UTF-8.',
      },
      unsupported_encoding: {
        title: 'Codificación de contenido no admitida',
        detail: 'Envíe el cuerpo sin Content-Encoding y sin más Transfer-Encoding que chunked.',
      },
      request_timeout: {
        title: 'Tiempo de espera agotado',
        detail: 'La solicitud ha tardado demasiado en llegar. Envíela de nuevo con una conexión más rápida.',
      },
      request_incomplete: {
        title: 'Solicitud incompleta',
        detail: 'La solicitud terminó antes de estar completa. Envíela entera de nuevo.',
      },
      request_headers_too_large: {
        title: 'Cabeceras demasiado grandes',
        detail:
          'La URL o las cabeceras son demasiado largas. Envíe una URL más corta y menos cabeceras, o más cortas.',
      },
      unauthorized: {
        title: 'No autorizado',
        detail:
          'Para esto se necesita un token válido o una sesión iniciada. Compruebe el token o inicie sesión de nuevo.',
      },
      insufficient_scope: {
        title: 'No permitido con este token',
        detail:
          'El token con el que se identifica no permite hacer esto. Use un token con más permisos o pida uno al operador de este servicio.',
      },
      invitation_not_found: {
        title: 'Invitación no encontrada',
        detail:
          'No hay ninguna invitación con este enlace. Compruebe que esté completo. Donde se inicia sesión con un proveedor de identidad no valen las invitaciones.',
      },
      invitation_ended: {
        title: 'La invitación ya no vale',
        detail:
          'Esta invitación ya se ha usado, ha caducado o se ha sustituido por otra. Pida una nueva al operador.',
      },
      token_not_found: {
        title: 'Token no encontrado',
        detail: 'No tiene ningún token con este ID, o ya se revocó. Consulte la lista de sus tokens.',
      },
      token_limit_reached: {
        title: 'Demasiados tokens',
        detail: 'Ya tiene el número máximo de tokens válidos. Revoque uno que ya no necesite.',
      },
      webhook_not_found: {
        title: 'Webhook no encontrado',
        detail: 'No tiene ningún webhook con este ID, o se quitó. Consulte la lista de sus webhooks.',
      },
      webhook_limit_reached: {
        title: 'Demasiados webhooks',
        detail: 'Ya tiene el número máximo de webhooks. Quite uno que ya no necesite.',
      },
      webhooks_off: {
        title: 'Sin webhooks',
        detail: 'Este servicio no envía webhooks: su operador no los ha configurado.',
      },
      webhook_switched_off: {
        title: 'Webhook desactivado por el operador',
        detail: 'El operador de este servicio ha desactivado el webhook. Pregúntele, o quite el webhook.',
      },
      webhook_off: {
        title: 'Webhook desactivado',
        detail: 'Este webhook está desactivado. Actívelo primero.',
      },
      delivery_not_found: {
        title: 'Entrega no encontrada',
        detail: 'Este webhook no tiene ninguna entrega con este ID, o se eliminó por su antigüedad.',
      },
      delivery_waiting: {
        title: 'El evento ya espera',
        detail: 'Este evento ya espera para enviarse a este webhook.',
      },
      cross_site_request: {
        title: 'Enviado desde otro sitio',
        detail:
          'El formulario no se ha enviado desde una página de este servicio, o el navegador no indica desde dónde. Abra la página de este servicio e inténtelo de nuevo, con https y un navegador actual.',
      },
      user_changed: {
        title: 'Ha cambiado el usuario de la sesión',
        detail:
          'Ha iniciado o cerrado sesión desde que abrió esta página. No se ha hecho nada. Abra la página de nuevo y compruebe quién ha iniciado sesión.',
      },
      route_not_found: {
        title: 'Ruta no encontrada',
        detail: 'No hay nada en esta dirección. Compruebe la URL o recargue la página anterior.',
      },
      method_not_allowed: {
        title: 'Método no permitido',
        detail: 'Esta dirección solo acepta lo que envía un formulario. Vuelva a la página del formulario.',
      },
      range_not_satisfiable: {
        title: 'Intervalo no válido',
        detail: 'El contenido no llega hasta el intervalo solicitado. Solicite uno dentro de su tamaño.',
      },
      precondition_failed: {
        title: 'Condición previa no cumplida',
        detail: 'El ETag del contenido no coincide con If-Match. Lea el ETag actual e inténtelo de nuevo.',
      },
      stream_unavailable: {
        title: 'Demasiados clientes en espera',
        detail: 'Hay demasiados clientes en espera en este momento. Inténtelo de nuevo en unos momentos.',
      },
      overloaded: {
        title: 'Demasiados datos en tránsito',
        detail:
          'Se están transfiriendo demasiados datos en este momento. Envíe de nuevo la solicitud más tarde o cuando hayan terminado las otras.',
      },
      dependency_unavailable: {
        title: 'No disponible temporalmente',
        detail:
          'Una parte del servicio no está disponible en este momento. Inténtelo de nuevo en unos momentos.',
      },
      malformed_message: {
        title: 'Error interno',
        detail: 'Un mensaje interno del servidor no es válido. Si el problema continúa, avise al operador.',
      },
      internal: {
        title: 'Error interno',
        detail:
          'El servidor ha fallado. Inténtelo de nuevo; si el problema continúa, comunique al operador el ID de la solicitud.',
      },
    },
  },
};
