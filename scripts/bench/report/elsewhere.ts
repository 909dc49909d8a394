/** Figures of other systems, measured elsewhere: on another machine of two cores, with another load generator. */
export const ELSEWHERE = [
  {
    system: 'a webhook service in Rust with Redis and PostgreSQL',
    eventsPerSecond: 200,
    p50Ms: 2.1,
    p99Ms: 4.3,
  },
] as const;
