import type { Clock } from '../../process/clock.ts';

/** A connection to one address that is being opened. */
export interface Dial<Result> {
  readonly result: Promise<Result>;
  /** Gives up and closes its sockets. */
  cancel(): void;
}

export interface Race<Result> {
  /** The first connection established, or the failure of the last address, or of the one that had connected. */
  readonly result: Promise<Result>;
  cancel(): void;
}

export interface RaceRules {
  readonly clock: Clock;
  /** The next address is tried after the previous one has been silent for this long, milliseconds. */
  readonly staggerMs: number;
  /** Returns whether another address may be tried after this failure. */
  readonly mayGoOn: (error: Error) => boolean;
}

/**
 * Tries the addresses of a name in turn (RFC 8305): the next one after the previous one has failed, or has been silent
 * for a while. The first that connects is used; the others are closed. `dial` opens a connection and calls back once
 * the address has answered.
 */
export function raceAddresses<Result>(
  addresses: readonly string[],
  dial: (address: string, onConnected: () => void) => Dial<Result>,
  { clock, staggerMs, mayGoOn }: RaceRules,
): Race<Result> {
  const dials = new Set<Dial<Result>>();
  const waiting = [...addresses];
  let disarm = () => {};
  let isDecided = false;
  const cancelAllBut = (winner: Dial<Result> | null) => {
    isDecided = true;
    disarm();
    for (const each of dials) if (each !== winner) each.cancel();
  };
  const result = new Promise<Result>((resolve, reject) => {
    const next = () => {
      disarm();
      const address = waiting.shift();
      if (isDecided || address === undefined) return;
      let isConnected = false;
      const opened = dial(address, () => {
        isConnected = true;
        if (!isDecided) cancelAllBut(opened);
      });
      dials.add(opened);
      if (waiting.length > 0) disarm = clock.at(clock.now() + staggerMs, next);
      opened.result.then(resolve, (error: Error) => {
        dials.delete(opened);
        if (isDecided && !isConnected) return;
        if (isConnected || !mayGoOn(error)) {
          if (!isDecided) cancelAllBut(null);
          reject(error);
        } else if (waiting.length > 0) next();
        else if (dials.size === 0) reject(error);
      });
    };
    next();
  });
  return { result, cancel: () => cancelAllBut(null) };
}
