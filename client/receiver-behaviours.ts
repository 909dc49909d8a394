/** The ways in which the simulator's receiver may respond: one correct way, and the ways in which real ones fail. */
export const BEHAVIOURS = [
  'ok',
  '500',
  '410',
  'redirect',
  'hang',
  'reset',
  'slow-body',
  'huge-body',
  'drip',
  'garbage',
  'tls-expired',
] as const;
