/** The fields of a merchant that routers need. */
export interface Merchant {
  readonly merchantId: string;
  readonly name: string;
  /** `paused`: an operator holds the merchant's deliveries back; nothing is lost. */
  readonly state: 'active' | 'paused';
  /** Whether senderDetails.accountDetails may be shown to this merchant (docs/decisions.md, "Event data"). */
  readonly senderAccountDetails: boolean;
  readonly version: number;
}
