import { queryOptions, useQuery } from '@tanstack/react-query';
import { bodyOf, rest } from '../api/api.ts';
import { Time } from '../parts/text.tsx';

/** A copy of the browser would tell a time of the service that has passed. */
const sourcesQuery = queryOptions({
  queryKey: ['sources'],
  staleTime: Number.POSITIVE_INFINITY,
  queryFn: () => bodyOf(rest.GET('/.well-known/webhook-sources', { cache: 'no-store' })),
});

/** The addresses that a firewall has to let in, closed at first. Where they cannot be read, the screen goes without. */
export function Sources() {
  const { data } = useQuery(sourcesQuery);
  if (data === undefined) return null;
  return (
    <details className="sources">
      <summary>Addresses that webhooks come from</summary>
      <p>{data.detail}</p>
      <ul>
        {data.sources.map(({ cidr, valid_from: from, valid_until: until }) => (
          <li key={cidr}>
            <code>{cidr}</code>
            {from === null ? null : (
              <>
                {' '}
                from <Time at={from} digits="minutes" />
              </>
            )}
            {until === null ? null : (
              <>
                {' '}
                until <Time at={until} digits="minutes" />
              </>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}
