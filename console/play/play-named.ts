/** A play, as the address of the screen names it: after a reload it goes on where it was. */
export interface PlayNamed {
  readonly scenario?: string;
  /** The user that the scenario is about; each play has one of its own. */
  readonly user?: string;
}

/** Reads the address of the screen. */
export function playIn({ scenario, user }: Readonly<Record<string, unknown>>): PlayNamed {
  return {
    ...(typeof scenario === 'string' ? { scenario } : {}),
    ...(typeof user === 'string' ? { user } : {}),
  };
}
