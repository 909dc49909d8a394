/**
 * A scenario with a seed and a start gives the same ids and the same body bytes, for ever: golden files hold them.
 * A change here changes what developers have recorded; change the files only on purpose (vitest -u).
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeEventJson, eventToJson } from '../../../services/codec/events.ts';
import { API_VERSION_DEFAULT, API_VERSIONS, type ApiVersion } from '../../../services/domain/endpoint.ts';
import { renderBody } from '../../../services/domain/versions/render.ts';
import { CommandFailure } from '../../../simulator/exit.ts';
import { scenarioNames } from '../../../simulator/scenario/library.ts';
import { openScenario } from '../../../simulator/scenario/open-scenario.ts';
import {
  type PlannedStep,
  type PlanOptions,
  planActions,
  planScenario,
} from '../../../simulator/scenario/plan.ts';
import { timeline } from '../../../simulator/scenario/player.ts';
import { GOLDEN_NAMES } from '../support/golden.ts';

const START = Date.parse('2030-01-31T12:00:00Z');
const OPTIONS: PlanOptions = { seed: '42', startAt: START, merchantId: 'merchant-1' };

function plan(name: string, options: Partial<PlanOptions> = {}): readonly PlannedStep[] {
  return planScenario(openScenario(name, { force: false }), { ...OPTIONS, ...options });
}
