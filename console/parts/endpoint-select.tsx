import { useQuery } from '@tanstack/react-query';
import { endpointsQuery } from '../api/reads.ts';
import { labelOf } from './endpoint-name.tsx';

interface Props {
  readonly value: string | undefined;
  /** The choice that stands for all of them, where there is one. */
  readonly all?: string;
  readonly onChange: (endpoint: string) => void;
}

/** Chooses an endpoint by its name. */
export function EndpointSelect({ value, all, onChange }: Props) {
  const { data: endpoints = [] } = useQuery(endpointsQuery);
  return (
    <select aria-label="Endpoint" value={value ?? ''} onChange={({ target }) => onChange(target.value)}>
      {all === undefined ? null : <option value="">{all}</option>}
      {endpoints.map((endpoint) => (
        <option key={endpoint.uuid} value={endpoint.uuid}>
          {labelOf(endpoint)}
        </option>
      ))}
    </select>
  );
}
