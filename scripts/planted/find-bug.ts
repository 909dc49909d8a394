import type { PlantedBug } from './planted-bug.ts';
import { runTests } from './run-tests.ts';
import type { WorkingCopy } from './working-copy.ts';

export interface Finding {
  readonly id: string;
  readonly verdict: 'caught' | 'NOT CAUGHT' | 'cannot be planted';
  /** The first failure of the test, or the reason the bug cannot be planted. */
  readonly detail: string;
}

/** Plants a bug and returns whether its tests catch it. */
export async function findBug(
  copy: WorkingCopy,
  bug: PlantedBug,
  environment: NodeJS.ProcessEnv,
): Promise<Finding> {
  const { id } = bug;
  try {
    const end = await copy.with(bug, () => runTests(copy.folder, bug, environment));
    if (end.kind === 'broken') return { id, verdict: 'cannot be planted', detail: end.detail };
    return { id, verdict: end.kind === 'failed' ? 'caught' : 'NOT CAUGHT', detail: end.detail };
  } catch (error) {
    return { id, verdict: 'cannot be planted', detail: (error as Error).message };
  }
}
