import type { RequestHandler } from 'express';
import type { WebhookType } from '../../domain/notices/notice.ts';
import {
  METRIC_STEP_MS,
  type MetricCounts,
  type MetricGroup,
  type MetricSeries,
} from '../../store/metrics.ts';
import { merchantOf } from '../auth.ts';
import type { ApiContext } from '../context.ts';
import { timestamp } from '../endpoint-json.ts';
import { sendJson } from '../idempotency.ts';
import { queryOf } from '../pagination.ts';
import { ApiError } from '../problem.ts';
import { timeOf } from './read-deliveries.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const PERIOD_MS_MAX = 31 * DAY_MS;
/** The most points of one series. */
const POINTS_MAX = 300;
/** Points that a series has at most when the request names no step. */
const POINTS_DEFAULT = 100;
/** The steps from which one is taken then. */
const STEPS_MS = [
  METRIC_STEP_MS,
  900_000,
  1_800_000,
  HOUR_MS,
  3 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
  DAY_MS,
];

/** GET /merchant/metrics: counts of attempts, and how long the receivers took. */
export function getMetrics(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const query = queryOf(request);
    const by = query.get('by') as MetricGroup | null;
    const type = query.get('type') as WebhookType | null;
    const endpointId = query.get('endpoint_uuid');
    const period = periodOf(query, context.clock.wall());
    const series = await context.store.metrics.read(merchantOf(response), {
      ...period,
      ...(by === null ? {} : { by }),
      ...(type === null ? {} : { type }),
      ...(endpointId === null ? {} : { endpointId: endpointId.toLowerCase() }),
    });
    sendJson(response, 200, {
      from: timestamp(period.from),
      to: timestamp(period.to),
      step: period.step / 1000,
      by,
      data: series.map(seriesJson),
    });
  };
}

/** Returns the period in whole steps: it begins and ends with the five minutes, hour or day (UTC) of the times asked for. */
function periodOf(query: URLSearchParams, now: number) {
  const to = timeOf('/query/to', query.get('to')) ?? now;
  const from = timeOf('/query/from', query.get('from')) ?? to - DAY_MS;
  if (from >= to) throw refused('from', 'must be before "to", which is now unless it is given');
  if (to - from > PERIOD_MS_MAX) throw refused('from', 'must be at most 31 days before "to"');
  const asked = query.get('step');
  const step = asked === null ? stepFor(to - from) : Number(asked) * 1000;
  const whole = { from: Math.floor(from / step) * step, to: Math.ceil(to / step) * step, step };
  const points = (whole.to - whole.from) / step;
  if (points > POINTS_MAX)
    throw refused('step', `gives ${points} points, and ${POINTS_MAX} are the most: give a larger step`);
  return whole;
}

function stepFor(periodMs: number): number {
  return STEPS_MS.find((step) => periodMs / step <= POINTS_DEFAULT) ?? DAY_MS;
}

function refused(name: 'from' | 'step', detail: string): ApiError {
  const pointer = `/query/${name}`;
  const errors = [{ pointer, code: 'out_of_range', detail }];
  return new ApiError('period_not_countable', `${pointer}: ${detail}.`, { errors });
}

function seriesJson({ name, points, ...counts }: MetricSeries) {
  return {
    name,
    ...countsJson(counts),
    points: points.map(({ at, ...each }) => ({ at: timestamp(at), ...countsJson(each) })),
  };
}

function countsJson({ attempts, failed, p50Ms, p99Ms }: MetricCounts) {
  return { attempts, failed, p50_ms: p50Ms, p99_ms: p99Ms };
}
