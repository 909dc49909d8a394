import { READS } from '../../../services/store/rules/reads.ts';
import { SQLITE_DIALECT } from '../../../services/store/sqlite/statements.ts';

/** Options of reads whose statements depend on them. */
const CONTINUED = { after: '1.1', since: 1 };
const OPTIONS: Readonly<Record<string, readonly (readonly unknown[])[]>> = {
  'endpoints.list': [
    ['m', { limit: 1 }],
    ['m', { limit: 1, status: 'active' }],
  ],
  'endpoints.every': [
    [{ limit: 1 }],
    [{ limit: 1, merchantId: 'm', status: 'disabled', isFailing: true, after: '9' }],
  ],
  'audit.list': [
    [{ limit: 1 }],
    [{ limit: 1, merchantId: 'm', ...CONTINUED }],
    [{ limit: 1, endpointId: 'e', merchantId: 'm', ...CONTINUED }],
  ],
  'outbox.snapshot': [
    [null, 1],
    [{ kind: 'endpoint', row: 1 }, 1],
  ],
  'replays.list': [[{ limit: 1 }], [{ limit: 1, endpointId: 'e' }]],
  'sealings.notSealedWith': [['k', { limit: 1, now: 1 }]],
};

/** Returns the statements of the reads that every store has, as SQLite gets them. */
export async function ruleStatements(parts = Object.keys(READS)): Promise<string[]> {
  const texts: string[] = [];
  const rows = async <Row>(text: string) => {
    texts.push(text);
    return [] as Row[];
  };
  const first = async (text: string) => void texts.push(text);
  const statements = { dialect: SQLITE_DIALECT, rows, first, change: async () => 0 };
  for (const [part, rules] of Object.entries(READS).filter(([name]) => parts.includes(name)))
    for (const [name, rule] of Object.entries(rules))
      for (const args of OPTIONS[`${part}.${name}`] ?? [['1', 1]])
        await (rule as (...all: readonly unknown[]) => Promise<unknown>)(statements, ...args);
  return texts;
}
