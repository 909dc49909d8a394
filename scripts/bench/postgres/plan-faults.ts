import { type ExplainedStatement, nodesOf, type PlanNode } from './explained-database.ts';

/** Rows of a leaf that may be read from its beginning to its end: so few that an index would not pay. */
const WHOLE_LEAF_MAX = 100;
/** Rows that one statement may read: a page examines up to 10,000. */
const READ_MAX = 10_500;
/** Searches of leaves by one statement: a few for each id of a page, or one of each leaf for a single id. */
const SEARCHES_MAX = 1000;

/** Returns the faults of a statement's plan on a log of many leaves, a line each. */
export function planFaults({ text, plan }: ExplainedStatement, leavesMax: number): readonly string[] {
  const ran = nodesOf(plan).filter((node) => (node['Actual Loops'] ?? 0) > 0);
  const scans = ran.filter((node) => node['Relation Name'] !== undefined);
  const faults = scans
    .filter((node) => node['Node Type'] === 'Seq Scan' && rowsRead(node) > WHOLE_LEAF_MAX)
    .map((node) => `reads all ${rowsRead(node)} rows of ${node['Relation Name']}`);
  const read = scans.reduce((sum, node) => sum + rowsRead(node), 0);
  if (read > READ_MAX) faults.push(`reads ${read} rows`);
  const searches = scans.reduce((sum, node) => sum + (node['Actual Loops'] ?? 0), 0);
  if (searches > SEARCHES_MAX) faults.push(`searches leaves ${searches} times`);
  const leaves = leavesOf({ plan });
  if (leaves > leavesMax) faults.push(`reads ${leaves} leaves`);
  const statement = text.replaceAll(/\s+/g, ' ');
  return [...new Set(faults.map((fault) => `${fault.replace(/_\d{10}/, '')}: ${statement}`))];
}

/** Returns the indexes that a plan used, without the names of leaves. */
export function indexesOf({ plan }: ExplainedStatement): readonly string[] {
  const ran = nodesOf(plan).filter((node) => (node['Actual Loops'] ?? 0) > 0);
  const names = ran.flatMap((node) => node['Index Name'] ?? []);
  return [...new Set(names.map((name) => name.replace(/_\d{10}_/, ' ')))];
}

/** Returns how many leaves a plan read. */
export function leavesOf({ plan }: Pick<ExplainedStatement, 'plan'>): number {
  const ran = nodesOf(plan).filter((node) => (node['Actual Loops'] ?? 0) > 0);
  return new Set(ran.map((node) => node['Relation Name'] ?? '').filter(isLeaf)).size;
}

function isLeaf(name: string): boolean {
  return /_\d{10}$/.test(name);
}

function rowsRead(node: PlanNode): number {
  const { 'Actual Rows': rows = 0, 'Rows Removed by Filter': removed = 0, 'Actual Loops': loops = 0 } = node;
  return (rows + removed) * loops;
}
