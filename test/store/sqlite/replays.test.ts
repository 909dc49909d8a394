/** Guarantee: the queries of replays use an index. */
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { scopeSql } from '../../../services/store/rules/reads/missed-page.ts';
import { migrate } from '../../../services/store/sqlite/migrations/migrate.ts';
import { MISSED_SQL } from '../../../services/store/sqlite/replays/missed-reads.ts';

it('the queries of a replay use the indexes of missed events and endpoints', () => {
  const db = new Database(':memory:');
  migrate(db, 'store.db');
  const planOf = (sql: string) => {
    const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql.replaceAll(/\$\d|\?/g, '1')}`).all();
    return (plan as { detail: string }[]).map(({ detail }) => detail).join('\n');
  };
  expect(planOf(MISSED_SQL)).toMatch(/SEARCH m USING PRIMARY KEY \(endpoint=\? AND \(created_at,event\)>/);
  const active = "e.status = 'active' AND e.seq >= ?";
  const plans = [
    MISSED_SQL,
    scopeSql('e.uuid = ?'),
    scopeSql(active),
    scopeSql(`${active} AND e.merchant_id = ?`),
    'SELECT * FROM missed WHERE event = ?',
  ].map(planOf);
  for (const plan of plans) expect(plan).not.toMatch(/SCAN|TEMP B-TREE/);
  db.close();
});
