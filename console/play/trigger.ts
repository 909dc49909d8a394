import { queryOptions } from '@tanstack/react-query';
import { bodyOf, rest } from '../api/api.ts';
import type { TriggerEvent, TriggeredEvent } from '../api/shapes.ts';

/** Publishes an event with the data of a sample; a dry run only returns it. */
export function trigger(body: TriggerEvent, isDry = false): Promise<TriggeredEvent> {
  const params = isDry ? { query: { dry_run: true } } : {};
  return bodyOf(rest.POST('/merchant/sandbox/events', { params, body }));
}

/** Whether an event about a user is recorded: before, a story of the user would be an error. */
export const hasEventsQuery = (user: string) =>
  queryOptions({
    queryKey: ['has events', user],
    queryFn: async () => {
      const query = { entity_uuid: user, limit: 1 };
      const { data } = await bodyOf(rest.GET('/merchant/events', { params: { query } }));
      return data.length > 0;
    },
  });
