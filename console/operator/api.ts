import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { exchange } from '../api/api.ts';

export type Given = Readonly<Record<string, unknown>>;

const COMMANDS = 'commands';
/** Of what is read once: looks that the audit has. */
const LOOKS = 'looks';

/** Gives a command of the operator, by its name in paths; resolves with what `--output json` of the tool prints. */
export async function command<Result>(name: string, given: Given = {}): Promise<Result> {
  const request = new Request(new URL(`/console/api/${name}`, location.origin), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(given),
  });
  return (await exchange(request)).json();
}

/** Reads with a command; `everyMs`: again and again. */
export function useCommand<Result>(
  name: string,
  given: Given = {},
  { everyMs = false, isAsked = true }: { readonly everyMs?: number | false; readonly isAsked?: boolean } = {},
) {
  return useQuery({
    queryKey: [COMMANDS, name, given],
    queryFn: () => command<Result>(name, given),
    refetchInterval: everyMs,
    enabled: isAsked,
  });
}

/** Reads with a command that leaves an entry in the audit: once, and not again when something changes. */
export function useLook<Result>(name: string, given: Given) {
  return useQuery({
    queryKey: [LOOKS, name, given],
    queryFn: () => command<Result>(name, given),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Changes something with a command; what was read is read again then. */
export function useChange<Result>(name: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (given: Given) => command<Result>(name, given),
    onSettled: () => client.invalidateQueries({ queryKey: [COMMANDS] }),
  });
}
