/**
 * Placeholders that the service fills in when it serves the reference (services/api/reference.ts): its address, and in
 * the sandbox the keys and the merchant.
 */
export const PLACEHOLDERS = {
  baseUrl: '{{base-url}}',
  merchantKey: '{{merchant-key}}',
  producerKey: '{{producer-key}}',
  merchantId: '{{merchant-id}}',
  /** A sentence where the keys are not shown; nothing where they are, or where there are none. */
  howToGetKeys: '{{how-to-get-keys}}',
} as const;

/** The variables of sandbox.env that stand in the pages for the same things. */
const VARIABLES: readonly (readonly [variable: string, placeholder: string])[] = [
  ['$HOOKRAIL_BASE_URL', PLACEHOLDERS.baseUrl],
  ['$HOOKRAIL_API_KEY', PLACEHOLDERS.merchantKey],
  ['$HOOKRAIL_PRODUCER_KEY', PLACEHOLDERS.producerKey],
  ['$HOOKRAIL_MERCHANT_ID', PLACEHOLDERS.merchantId],
];

/** Puts placeholders where the pages under docs/ have the variables of sandbox.env. */
export function withPlaceholders(code: string): string {
  return VARIABLES.reduce((text, [variable, placeholder]) => text.replaceAll(variable, placeholder), code);
}
