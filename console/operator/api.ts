import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { exchange } from '../api/api.ts';
import type { OperatorAnswers } from '../generated/operator-answers.ts';

export type Given = Readonly<Record<string, unknown>>;

type Name = keyof OperatorAnswers;

const COMMANDS = 'commands';
/** Of what is read once: looks that the audit has. */
const LOOKS = 'looks';

/** Gives a command of the operator, by its name in paths; resolves with what `--output json` of the tool prints. */
export async function command<N extends Name>(name: N, given: Given = {}): Promise<OperatorAnswers[N]> {
  const request = new Request(new URL(`/console/api/${name}`, location.origin), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(given),
  });
  return (await exchange(request)).json();
}

/** Reads with a command; `everyMs`: again and again. */
export function useCommand<N extends Name>(name: N, given: Given = {}, everyMs: number | false = false) {
  const queryFn = () => command(name, given);
  return useQuery({ queryKey: [COMMANDS, name, given], queryFn, refetchInterval: everyMs });
}

/** Reads with a command that leaves an entry in the audit: once, and not again when something changes. */
export function useLook<N extends Name>(name: N, given: Given) {
  const queryFn = () => command(name, given);
  return useQuery({ queryKey: [LOOKS, name, given], queryFn, staleTime: Number.POSITIVE_INFINITY });
}

/** Changes something with a command; what was read is read again then. */
export function useChange<N extends Name>(name: N) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (given: Given) => command(name, given),
    onSettled: () => client.invalidateQueries({ queryKey: [COMMANDS] }),
  });
}

/** Returns the id in the address. */
export function useId(): string {
  const { id = '' } = useParams({ strict: false }) as { readonly id?: string };
  return id;
}

/** Returns the filters in the address, and what changes one: a colleague who opens the address sees the same. */
export function useFilters() {
  const given: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  const navigate = useNavigate();
  const filters = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]));
  const set = (name: string, value: string) => {
    const { [name]: _, ...others } = filters;
    const search = value === '' ? others : { ...others, [name]: value };
    void navigate({ to: '.', search: search as never, replace: true });
  };
  return [filters as Readonly<Record<string, string>>, set] as const;
}
