const NEGATIVE = 'TimeoutNegativeWarning';
const hushed = new WeakSet<object>();

/**
 * Keeps Node from printing that a timer was set for a time that has passed. kafkajs does so after each connection (it
 * subtracts the time of day from -1), it means "at once", and nobody who runs hookrail can do anything about it. Other
 * warnings are printed.
 */
export function hushNegativeTimeouts(): void {
  const { emitWarning } = process;
  if (hushed.has(emitWarning)) return;
  const others = (...given: Parameters<typeof emitWarning>): void => {
    const [, type] = given as unknown[];
    if (type !== NEGATIVE) emitWarning(...given);
  };
  hushed.add(others);
  process.emitWarning = others as typeof emitWarning;
}
