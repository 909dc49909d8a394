/**
 * A line for every command that prints data, in an order in which each finds what it needs: `{name}` is a value that an
 * earlier one printed, or that a test prepared.
 */

export interface JsonCommand {
  readonly line: string;
  /** Values of what it prints, by name, that later lines use. */
  readonly keeps?: Readonly<Record<string, (printed: Printed) => string>>;
  /** It fails: it prints what it found, or refuses with an error that is JSON, too. */
  readonly fails?: 'finding' | 'error';
  /** What it says is about Kafka. */
  readonly onKafka?: true;
}

// biome-ignore lint/suspicious/noExplicitAny: as parsed
type Printed = any;

export const JSON_COMMANDS: readonly JsonCommand[] = [
  { line: 'sim whoami' },
  { line: 'sim scenarios list' },
  { line: 'sim scenarios show onramp.happy' },
  { line: 'sim scenarios validate onramp.happy' },
  { line: 'sim run onramp.happy --dry-run' },
  { line: 'sim run onramp.happy --speed instant' },
  { line: 'sim trigger KYC/FULL_USER' },
  { line: 'sim trigger KYC/FULL_USER --wait 20s' },
  { line: 'sim endpoints list', keeps: { endpoint: ([first]) => first.uuid } },
  { line: 'sim endpoints create --url https://localhost/made', keeps: { made: ({ uuid }) => uuid } },
  { line: 'sim endpoints get {endpoint}' },
  { line: 'sim endpoints update {endpoint} --description again' },
  { line: 'sim endpoints check {endpoint}' },
  { line: 'sim endpoints prepare {made}' },
  { line: 'sim endpoints prepare {made} --discard' },
  { line: 'sim endpoints rotate {made} --idempotency-key again' },
  { line: 'sim endpoints disable {made}' },
  { line: 'sim endpoints enable {made}' },
  { line: 'sim endpoints delete {made}' },
  {
    line: 'sim deliveries list',
    keeps: { delivery: ([first]) => first.delivery_uuid, event: ([first]) => first.event_uuid },
  },
  { line: 'sim deliveries get {delivery}' },
  { line: 'sim events get {event}' },
  { line: 'sim events list' },
  { line: 'sim events compare --last 3' },
  { line: 'sim events status {event}' },
  { line: 'sim trigger KYC/FULL_USER --check' },
  { line: 'sim story {event}' },
  { line: 'sim lookup {delivery}' },
  { line: 'sim metrics --since 1h' },
  { line: 'sim deliveries resend {delivery}' },
  { line: 'sim deliveries replay {endpoint} --since 1h' },
  { line: 'sim endpoints replay {endpoint} --since 1h' },
  { line: 'sim missed' },
  { line: 'sim run onramp.happy --speed instant --wait 20s' },
  { line: 'sim assert last' },
  { line: 'sim run onramp.happy --step' },
  { line: 'sim step' },
  { line: 'sim record --since 1h --out {folder}/journey.ndjson' },
  { line: 'sim replay {folder}/journey.ndjson --speed instant --new-ids' },
  { line: 'sim load --rate 10 --duration 3s' },
  { line: 'sim scenarios graph onramp.happy' },
  { line: 'sim scenarios new mine.flow' },
  { line: 'sim scenarios check --only kyc.happy' },
  { line: 'sim sample node' },
  { line: 'sim sign --secret whsec_{secret} --body {folder}/body' },
  { line: 'sim catalog' },
  { line: 'sim docs' },
  { line: 'sim doctor' },
  { line: 'sim clock show' },
  { line: 'sim clock advance 1s' },
  { line: 'sim endpoints test {endpoint}' },
  {
    line: 'sim verify --secret whsec_{secret} --headers {folder}/headers.json --body {folder}/body',
    fails: 'finding',
  },
  { line: 'sim cert --out made' },
  { line: 'operator status' },
  { line: 'operator merchants create --name Acme', keeps: { merchant: ({ merchantId }) => merchantId } },
  { line: 'operator merchants list' },
  { line: 'operator merchants pause {merchant} --reason flooded' },
  { line: 'operator merchants resume {merchant}' },
  { line: 'operator merchants set {merchant} --name Apex' },
  { line: 'operator keys create --merchant {merchant}', keeps: { key: ({ keyId }) => keyId } },
  { line: 'operator keys create --producer --types KYC', keeps: { producerKey: ({ keyId }) => keyId } },
  { line: 'operator keys set {producerKey} --types KYC,AML' },
  { line: 'operator keys list' },
  { line: 'operator portal link {merchant}' },
  { line: 'operator portal list {merchant}' },
  { line: 'operator portal end {merchant}' },
  { line: 'operator merchants get {merchant}' },
  { line: 'operator endpoints list' },
  { line: 'operator endpoints get {endpoint}' },
  { line: 'operator deliveries list' },
  { line: 'operator deliveries get {delivery} --body' },
  { line: 'operator events list' },
  { line: 'operator events get {event}' },
  { line: 'operator story {event}', fails: 'error' },
  { line: 'operator find {delivery}' },
  { line: 'operator keys revoke {key}' },
  { line: 'operator keyring create --out {folder}/ring.json' },
  { line: 'operator keyring add --ring {folder}/ring.json', keeps: { ringKey: ({ added }) => added } },
  { line: 'operator keyring add --ring {folder}/ring.json' },
  { line: 'operator keyring remove --ring {folder}/ring.json --id {ringKey}' },
  {
    line: 'operator signing-keys create --ring {folder}/ring.json',
    keeps: { signingKey: ({ created }) => created },
  },
  { line: 'operator signing-keys create --ring {folder}/ring.json', fails: 'error' },
  {
    line: 'operator signing-keys rotate --ring {folder}/ring.json --in-hours 1',
    keeps: { nextKey: ({ created }) => created },
  },
  { line: 'operator signing-keys retire --ring {folder}/ring.json --kid {signingKey}', fails: 'error' },
  { line: 'operator signing-keys retire --ring {folder}/ring.json --kid {nextKey}' },
  { line: 'operator signing-keys list --ring {folder}/ring.json' },
  { line: 'operator keyring list' },
  { line: 'operator keyring rewrap' },
  { line: 'operator audit list' },
  { line: 'operator quarantine summary' },
  { line: 'operator quarantine list', keeps: { position: ([first]) => first.position } },
  { line: 'operator quarantine show {position}' },
  { line: 'operator quarantine replay {position}' },
  { line: 'operator dead-letters list' },
  { line: 'operator dead-letters summary' },
  { line: 'operator replay start --since 1h --only missing', keeps: { replay: ({ replayId }) => replayId } },
  { line: 'operator replay list' },
  { line: 'operator replay get {replay}' },
  // It has ended.
  { line: 'operator replay cancel {replay}', fails: 'error' },
  { line: 'operator entity erase --entity {entity} --yes' },
  { line: 'operator store backup {folder}/backup.db' },
  { line: 'operator store restore {folder}/backup.db --data-dir {folder}/new-machine' },
  // This sandbox has its store on SQLite, and no Kafka.
  { line: 'operator store migrate', fails: 'error' },
  { line: 'operator store vacuum', fails: 'error' },
  { line: 'operator store copy --to postgres://hookrail@localhost/hookrail', fails: 'error' },
  { line: 'operator topics', onKafka: true },
  { line: 'operator schemas', onKafka: true },
];

/** Commands that end with no data, and why. */
export const WITHOUT_DATA: Readonly<Record<string, string>> = {
  start: 'runs on',
  serve: 'runs on',
  completion: 'prints a script for the shell',
  'sim listen': 'runs on; prints ndjson',
  'sim receiver': 'runs on; prints ndjson',
  'sim deliveries tail': 'runs on; prints ndjson',
  'sim events tail': 'runs on; prints ndjson',
  'operator streams list': 'asks Kafka; SQLite loses no record',
  'operator streams acknowledge': 'asks Kafka; SQLite loses no record',
};
