import { ConfigError } from './variables.ts';

const DAY_MS = 86_400_000;

interface RetentionValues {
  readonly HOOKRAIL_RETENTION_DAYS: number;
  readonly HOOKRAIL_BODY_RETENTION_DAYS: number;
}

export function retentionConfig(values: RetentionValues) {
  return {
    retentionMs: values.HOOKRAIL_RETENTION_DAYS * DAY_MS,
    bodyRetentionMs: bodyRetentionDays(values) * DAY_MS,
  };
}

function bodyRetentionDays({
  HOOKRAIL_RETENTION_DAYS: all,
  HOOKRAIL_BODY_RETENTION_DAYS: bodies,
}: RetentionValues): number {
  if (bodies <= all) return bodies === 0 ? all : bodies;
  throw new ConfigError(
    `HOOKRAIL_BODY_RETENTION_DAYS="${bodies}" exceeds HOOKRAIL_RETENTION_DAYS (${all}): bodies go with their rows at the latest`,
  );
}
