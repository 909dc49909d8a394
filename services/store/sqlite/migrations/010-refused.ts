/**
 * A delivery that a 410 ended has its own status, 6; before, it was 4 with the failure code 14. The index of failing
 * deliveries holds all of these, so that a long log is not read.
 */
export const refused = `
UPDATE delivery INDEXED BY delivery_failing SET status = 6
  WHERE status > 2 AND status = 4 AND last_failure_code = 14;
`;
