/** Requests of a key in a minute, by class. */
export function rateLimits(
  values: {
    readonly HOOKRAIL_RATE_LIMIT_PER_MINUTE: number;
    readonly HOOKRAIL_FEED_RATE_LIMIT_PER_MINUTE: number;
    readonly HOOKRAIL_TEST_RATE_LIMIT_PER_MINUTE: number;
  },
  isSandbox: boolean,
) {
  return {
    rateLimitPerMinute: values.HOOKRAIL_RATE_LIMIT_PER_MINUTE || (isSandbox ? 6000 : 100),
    feedRateLimitPerMinute: values.HOOKRAIL_FEED_RATE_LIMIT_PER_MINUTE || (isSandbox ? 1200 : 120),
    testRateLimitPerMinute: values.HOOKRAIL_TEST_RATE_LIMIT_PER_MINUTE || (isSandbox ? 600 : 10),
  };
}
