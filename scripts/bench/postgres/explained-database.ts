import { PostgresDatabase } from '../../../services/store/postgres/client/postgres-database.ts';
import type { Statements } from '../../../services/store/sql/statements.ts';

/** A node of a plan, as EXPLAIN (FORMAT JSON) names its fields. */
export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  /** How often it ran; absent in a plan that was not carried out. */
  readonly 'Actual Loops'?: number;
  readonly 'Actual Rows'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

export interface ExplainedStatement {
  readonly text: string;
  readonly plan: PlanNode;
  readonly planningMs: number;
  readonly executionMs: number;
}

/** A database whose reads are explained while they run: with the plans that the server really takes. */
export class ExplainedDatabase extends PostgresDatabase {
  #statements: ExplainedStatement[] = [];

  /** Returns the statements since the last call. */
  take(): readonly ExplainedStatement[] {
    const taken = this.#statements;
    this.#statements = [];
    return taken;
  }

  override read<T>(work: (statements: Statements) => Promise<T>): Promise<T> {
    return super.read((statements) => work(this.#explaining(statements)));
  }

  #explaining(statements: Statements): Statements {
    const explain = async (text: string, values: readonly unknown[]) => {
      const row = await statements.first<{ readonly 'QUERY PLAN': readonly ExplainedJson[] }>(
        `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
        values,
      );
      const [found] = row?.['QUERY PLAN'] ?? [];
      if (!found) throw new Error(`no plan for ${text}`);
      const { Plan: plan, 'Planning Time': planningMs, 'Execution Time': executionMs } = found;
      this.#statements.push({ text, plan, planningMs, executionMs });
    };
    return {
      ...statements,
      rows: async (text, values = []) => {
        await explain(text, values);
        return statements.rows(text, values);
      },
      first: async (text, values = []) => {
        await explain(text, values);
        return statements.first(text, values);
      },
    };
  }
}

interface ExplainedJson {
  readonly Plan: PlanNode;
  readonly 'Planning Time': number;
  readonly 'Execution Time': number;
}

/** Returns the node and all below it. */
export function nodesOf(plan: PlanNode): readonly PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}
