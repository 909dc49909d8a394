import type { CauseDeps } from './cause-deps.ts';

/** Adds a notice for each address that will come or go. */
export async function tellSources({ store, sources, clock }: CauseDeps): Promise<void> {
  const now = clock.wall();
  const changes = sources.flatMap(({ cidr, validFrom, validUntil }) => [
    { cidr, subType: 'COMES', changesAt: validFrom },
    { cidr, subType: 'GOES', changesAt: validUntil },
  ]);
  for (const { cidr, subType, changesAt } of changes) {
    if (changesAt === null || changesAt <= now) continue;
    await store.notices.add({
      cause: `source_addresses.changing/${cidr}/${subType}/${changesAt}`,
      ...{ type: 'source_addresses.changing', subType, merchantId: null, endpointId: null, at: now },
      data: { cidr, changesAt },
    });
  }
}
