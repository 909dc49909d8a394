import { useNavigate, useParams, useSearch } from '@tanstack/react-router';

/** Returns the id in the address. */
export function useId(): string {
  const { id = '' } = useParams({ strict: false }) as { readonly id?: string };
  return id;
}

/** Returns the filters in the address, and what changes one: a colleague who opens the address sees the same. */
export function useFilters(): readonly [
  Readonly<Record<string, string>>,
  (name: string, value: string) => void,
] {
  const given: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  const navigate = useNavigate();
  const filters = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]));
  const set = (name: string, value: string) => {
    const { [name]: _, ...others } = filters;
    const search = value === '' ? others : { ...others, [name]: value };
    void navigate({ to: '.', search: search as never, replace: true });
  };
  return [filters, set];
}
