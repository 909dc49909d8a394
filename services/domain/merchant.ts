/** The fields of a merchant that routers need. */
export interface Merchant {
  readonly merchantId: string;
  readonly name: string;
  /**
   * `paused`: an operator or the platform holds the merchant's deliveries back; nothing is lost. `closed`: for good, it has
   * no keys and no endpoints, and takes no events.
   */
  readonly state: 'active' | 'paused' | 'closed';
  /** Whether senderDetails.accountDetails may be shown to this merchant (docs/decisions.md, "Event data"). */
  readonly senderAccountDetails: boolean;
  readonly version: number;
}

/** Returns whether events of a merchant are routed; undefined: there is no such merchant. */
export function takesEvents(merchant: Pick<Merchant, 'state'> | undefined): boolean {
  return merchant !== undefined && merchant.state !== 'closed';
}
