import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { visible } from '../../services/domain/text/visible-text.ts';
import { endpointsQuery } from '../api/reads.ts';
import type { Endpoint } from '../api/shapes.ts';
import { Select } from './controls.tsx';
import { shortId } from './words.ts';

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

interface SelectProps {
  readonly value: string | undefined;
  /** The choice that stands for all of them, where there is one. */
  readonly all?: string;
  readonly onChange: (endpoint: string) => void;
}

/** Chooses an endpoint by its name. */
export function EndpointSelect({ value = '', all, onChange }: SelectProps) {
  const { data: endpoints = [] } = useQuery(endpointsQuery);
  const named = endpoints.map((endpoint) => [endpoint.uuid, labelOf(endpoint)] as const);
  const options = all === undefined ? named : [['', all] as const, ...named];
  return <Select aria-label="Endpoint" value={value} options={options} onChange={onChange} />;
}

interface DeliveryProps {
  readonly endpoint: string;
  readonly id: string;
  readonly className?: string;
  readonly children: ReactNode;
}

/** Leads to the screen of a delivery. */
export function DeliveryLink({ endpoint, id, ...props }: DeliveryProps) {
  return <Link to="/endpoints/$endpoint/deliveries/$id" params={{ endpoint, id }} {...props} />;
}

/** Leads to the health of an endpoint. */
export function EndpointLink({ uuid, children }: { readonly uuid: string; readonly children: ReactNode }) {
  return (
    <Link to="/endpoints/$endpoint" params={{ endpoint: uuid }}>
      {children}
    </Link>
  );
}
