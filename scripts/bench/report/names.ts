/** Returns the engine's name, with the number of its brokers if it has any. */
export function nameOf(engine: string, brokers: number): string {
  return brokers === 0 ? engine : `${engine} (${plural(brokers, 'broker')})`;
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
