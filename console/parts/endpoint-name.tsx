import { useQuery } from '@tanstack/react-query';
import { visible } from '../../services/domain/text/visible-text.ts';
import { endpointsQuery } from '../api/reads.ts';
import type { Endpoint } from '../api/shapes.ts';
import { shortId } from './short-id.ts';

/** Returns what a person calls an endpoint: its description, else its host and path. */
export function labelOf({ description, url }: Pick<Endpoint, 'description' | 'url'>): string {
  return visible(description || url.replace(/^https:\/\//, '').replace(/\/$/, ''));
}

export function useEndpoint(uuid: string): Endpoint | undefined {
  const { data } = useQuery(endpointsQuery);
  return data?.find((one) => one.uuid === uuid);
}

/** The name of an endpoint; the beginning of its id when it was deleted. */
export function EndpointName({ uuid }: { readonly uuid: string }) {
  const { data } = useQuery(endpointsQuery);
  const found = data?.find((one) => one.uuid === uuid);
  if (found === undefined) {
    return <span title={uuid}>{data === undefined ? shortId(uuid) : `${shortId(uuid)} (deleted)`}</span>;
  }
  return <span title={`${found.url}\n${uuid}`}>{labelOf(found)}</span>;
}
