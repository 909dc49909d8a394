import { EXIT } from '../../../simulator/exit.ts';

/** A line that a newcomer types; `{plain}` and the like stand for what the test knows. */
interface Row {
  readonly typed: string;
  readonly says: string;
  /** The words after "hookrail sim ". */
  readonly names: string;
  readonly code?: number;
  /** The exit code of the command that is named; `long`: it runs until Ctrl-C, and is not run here. */
  readonly helps?: number | 'long';
}

const UNKNOWN_ID = '5b8b075c-7a55-4f3c-8f52-0d0a3e0c6b77';

export const ROWS: readonly Row[] = [
  {
    typed: 'endpoints create --url http://localhost:3000/hook',
    says: 'webhooks go to https URLs only; http://localhost:3000/hook is http',
    names: 'endpoints create --url https://localhost:3000/hook',
    code: EXIT.api,
  },
  {
    typed: 'endpoints test {selfSigned}',
    says: 'the sandbox does not trust the certificate of {selfSigned.host}',
    names: 'listen --forward-to https://{selfSigned.host}/',
    code: EXIT.expectation,
  },
  {
    typed: 'endpoints test {plain}',
    says: '{plain.host} answers in plain HTTP, not TLS',
    names: 'listen --forward-to http://{plain.host}/',
    code: EXIT.expectation,
  },
  {
    typed: 'endpoints test {strict}',
    says: 'the receiver refused it (401); its secret should end in {strict.hint}',
    names: 'endpoints rotate {strict}',
    code: EXIT.expectation,
  },
  {
    typed: 'run kyc.happy --speed instant --sed 42',
    says: 'run has no option --sed; did you mean --seed?',
    names: 'run kyc.happy --speed instant --seed 42',
  },
  {
    typed: 'rnu kyc.happy --dry-run',
    says: 'sim has no command "rnu"; did you mean run?',
    names: 'run kyc.happy --dry-run',
  },
  {
    typed: 'deliveries resend x',
    says: '"x" is not the id of a delivery, nor at least 8 digits of one',
    names: 'deliveries list',
  },
  {
    typed: 'deliveries get 00000000',
    says: 'the merchant has no delivery 00000000',
    names: 'deliveries list',
    code: EXIT.api,
  },
  {
    typed: 'deliveries tial',
    says: 'deliveries has no command "tial"; did you mean tail?',
    names: 'deliveries tail',
    helps: 'long',
  },
  {
    typed: 'endpoints get checkout',
    says: 'no endpoint has "checkout" as its id, description or URL',
    names: 'endpoints list',
    code: EXIT.api,
  },
  ...[
    'endpoints delete {strict.host}',
    'endpoints rm localhost',
    'endpoints rotate L',
    'endpoints disable HTTPS://{plain.host}/',
    'endpoints update s --description mine',
    'endpoints test {strict.host} --wait 1',
    'endpoints replay localhost --since 1h',
    'deliveries replay {strict.host} --since 1h --dry-run',
  ].map((typed) => ({ typed, says: 'is only a part of', names: 'endpoints list' })),
  {
    typed: 'docter',
    says: 'sim has no command "docter"; did you mean doctor?',
    names: 'doctor',
    helps: EXIT.expectation,
  },
  {
    typed: 'listen --forward-to ftp://localhost:3000',
    says: '--forward-to takes http or https, not ftp',
    names: 'listen --forward-to http://localhost:3000/hook',
  },
  {
    typed: 'listen --forwad-to 3000',
    says: 'listen has no option --forwad-to; did you mean --forward-to?',
    names: 'listen --forward-to 3000',
  },
  {
    typed: 'run KYC/FULL_USER',
    says: 'KYC/FULL_USER is an event, not a scenario',
    names: 'trigger KYC/FULL_USER',
  },
  {
    typed: 'trigger kyc.happy',
    says: 'kyc.happy is a scenario, not an event',
    names: 'run kyc.happy',
  },
  {
    typed: 'endpoints test {strict} KYC/FULL_USER',
    says: 'endpoints test takes the event as --event KYC/FULL_USER',
    names: 'endpoints test {strict} --event KYC/FULL_USER',
    helps: EXIT.expectation,
  },
  {
    typed: `endpoints remove ${UNKNOWN_ID}`,
    says: 'endpoints has no command "remove"; did you mean delete?',
    names: `endpoints delete ${UNKNOWN_ID}`,
    helps: EXIT.api,
  },
  {
    typed: 'endpoints create --url https://localhost/x --events KYC,fiatToCrpto',
    says: '"fiatToCrpto" is not an event type; did you mean fiatToCrypto',
    names: 'endpoints create --url https://localhost/x --events KYC,fiatToCrypto',
  },
  {
    typed: 'trigger KYC/FULL_USER --count 1 --count=2',
    says: '--count is given more than once; it takes one value',
    names: 'trigger --help',
  },
  {
    typed: 'run missing-flow.yaml',
    says: 'missing-flow.yaml does not exist',
    names: 'scenarios list',
  },
  {
    typed: 'deliveries list --since yesterday',
    says: '--since "yesterday" is neither a duration, such as 2h, nor a time in RFC 3339',
    names: 'deliveries list --since 2h',
  },
  {
    typed: 'endpoints list --base-url {operations}',
    says: '{operations} is the operations port, not the API',
    names: 'whoami --base-url {api}',
  },
  {
    typed: 'endpoints list --base-url https://{api.host}',
    says: 'https://{api.host} speaks plain HTTP, not TLS',
    names: 'whoami --base-url {api}',
    code: EXIT.unreachable,
  },
  {
    typed: 'endpoints create --url localhost:3001',
    says: 'webhooks go to https URLs only; localhost:3001 does not begin with https://',
    names: 'endpoints create --url https://localhost:3001',
    code: EXIT.api,
  },
  {
    typed: 'endpoints create https://me:word@localhost:3002/a#b',
    says: 'the URL must not have a user name or password',
    names: 'endpoints create https://localhost:3002/a',
    code: EXIT.api,
  },
  {
    typed: 'trigger KYC/FULL_USER --endpoint {plain.digits}',
    says: `"{plain.digits}" is only a part of`,
    names: 'trigger KYC/FULL_USER --endpoint {plain.8}',
    helps: EXIT.expectation,
  },
  {
    typed: 'load --endpoint nobody --rate 1 --duration 1s',
    says: 'no endpoint has "nobody" as its id, description or URL',
    names: 'endpoints list',
    code: EXIT.api,
  },
  {
    typed: `endpoints get ${UNKNOWN_ID}`,
    says: `the merchant has no endpoint ${UNKNOWN_ID}`,
    names: 'endpoints list',
    code: EXIT.api,
  },
  {
    typed: 'endpoints test {plain} --user 42',
    says: '--user "42" is refused',
    names: 'endpoints test --help',
    code: EXIT.api,
  },
  {
    typed: 'endpoints list --base-url {api.host}',
    says: 'is not an http or https URL',
    names: 'endpoints list --base-url {api}',
  },
  { typed: 'listen 3000', says: 'listen takes the address as', names: 'listen --forward-to 3000' },
  {
    typed: 'listen localhost:3000/hook --events KYC',
    says: 'listen takes the address as --forward-to localhost:3000/hook',
    names: 'listen --forward-to localhost:3000/hook --events KYC',
  },
  { typed: 'logs', says: 'did you mean deliveries list?', names: 'deliveries list' },
  { typed: 'list', says: 'did you mean endpoints list?', names: 'endpoints list' },
  ...['repeat x', 'retri', 'get', 'create'].map((typed) => ({
    typed,
    says: 'sim has no command "',
    names: '--help',
  })),
  {
    typed: 'trigger kyc/full_user',
    says: '"kyc" is not an event type; did you mean KYC/FULL_USER?',
    names: 'trigger KYC/FULL_USER',
  },
  { typed: 'trigger kyc.full-user', says: 'did you mean', names: 'trigger KYC/FULL_USER' },
  { typed: 'trigger FULL_USER', says: 'did you mean', names: 'trigger KYC/FULL_USER' },
  { typed: 'trigger KYC FULL_USER', says: 'one word too many', names: 'trigger KYC/FULL_USER' },
  {
    typed: 'endpoints test {strict} --event KYC/FULLUSER',
    says: 'KYC has no subType "FULLUSER"; did you mean FULL_USER?',
    names: 'endpoints test {strict} --event KYC/FULL_USER',
    helps: EXIT.expectation,
  },
  {
    typed: 'trigger endpoint.failing',
    says: 'endpoint.failing is a notice about hookrail, not an event',
    names: 'endpoints test <endpoint> --event endpoint.failing',
    helps: EXIT.api,
  },
  {
    typed: 'endpoints test {strict} --event endpoint.failling/AT_75',
    says: '"endpoint.failling" is not a type; did you mean endpoint.failing?',
    names: 'endpoints test {strict} --event endpoint.failing/AT_75',
    helps: EXIT.api,
  },
  {
    typed: 'endpoints test {strict} --event endpoint.failing/AT75',
    says: 'endpoint.failing has no subType "AT75"; it has AT_50, AT_75, AT_90',
    names: 'endpoints test {strict} --event endpoint.failing/AT_75',
    helps: EXIT.api,
  },
  { typed: 'catalog KYC/NOPE', says: 'KYC has no subType "NOPE"; it has', names: 'catalog KYC' },
  { typed: 'catalog KYC/FULLUSER', says: 'did you mean FULL_USER?', names: 'catalog KYC/FULL_USER' },
  ...[
    ['--enabled false', 'disable'],
    ['--enabled=false', 'disable'],
    ['--no-enabled', 'disable'],
    ['--status disabled', 'disable'],
    ['--active', 'enable'],
  ].map(([option, command]) => ({
    typed: `endpoints update {strict} ${option}`,
    says: `did you mean endpoints ${command} {strict}?`,
    names: `endpoints ${command} {strict}`,
  })),
  {
    typed: 'run kyc.happy --speed 1000000 --sink stdout',
    says: '--speed "1000000" is not 1x, 60x',
    names: 'run kyc.happy --speed 1000000x --sink stdout',
  },
  {
    typed: 'deliveries list --since 2hours',
    says: '--since "2hours" is neither a duration',
    names: 'deliveries list --since 2h',
  },
  { typed: 'clock forward 1h', says: 'did you mean', names: 'clock advance 1h', helps: 'long' },
  { typed: 'clock advance -1h', says: 'the clock only moves forward', names: 'clock advance --help' },
  { typed: 'deliveries list --limit 0', says: '--limit must be', names: 'deliveries list --help' },
  {
    typed: 'trigger KYC/FULL_USR',
    says: 'KYC has no subType "FULL_USR"; did you mean FULL_USER',
    names: 'trigger KYC/FULL_USER',
  },
];
