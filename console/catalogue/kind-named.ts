/** The kind of event that the catalogue shows. */
export interface KindNamed {
  readonly type?: string;
  readonly subType?: string;
}

/** Reads the address of the screen. */
export function kindIn({ type, subType }: Readonly<Record<string, unknown>>): KindNamed {
  return {
    ...(typeof type === 'string' ? { type } : {}),
    ...(typeof subType === 'string' ? { subType } : {}),
  };
}
