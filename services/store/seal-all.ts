import type { Sealings } from './maintenance.ts';

/** Records sealed in one transaction: few, so that merchants' own changes do not wait behind it. */
const AT_ONCE = 100;

export interface SealedDirectory {
  readonly sealed: number;
  readonly refused: readonly string[];
}

/** Seals every record of the store with the active key, in small steps. `between`: called after each. */
export async function sealAll(
  sealings: Pick<Sealings, 'sealRecords'>,
  between: () => Promise<void> = async () => {},
): Promise<SealedDirectory> {
  const refused: string[] = [];
  let sealed = 0;
  for (let after: string | null = ''; after !== null; ) {
    const options: Parameters<Sealings['sealRecords']>[0] = { limit: AT_ONCE, ...(after ? { after } : {}) };
    const step = await sealings.sealRecords(options);
    sealed += step.sealed;
    refused.push(...step.refused);
    after = step.next;
    await between();
  }
  return { sealed, refused };
}
