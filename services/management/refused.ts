/** The reasons to refuse a request of an operator or of the platform. Codes of the API: docs/errors.md. */
export type RefusedCode =
  | 'merchant_not_found'
  | 'merchant_exists'
  | 'merchant_closed'
  | 'platform_merchant_stays'
  | 'incident_replay_not_found'
  | 'replay_ended'
  | 'incident_replay_running'
  | 'quarantined_not_found'
  | 'empty_period';

/** A request of an operator or of the platform is refused: nothing was changed. The command line and the API word it each. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly code: RefusedCode;
  /** The id of what it is about. */
  readonly about: string;

  constructor(code: RefusedCode, about = '') {
    super(`${code} ${about}`.trim());
    this.code = code;
    this.about = about;
  }
}
