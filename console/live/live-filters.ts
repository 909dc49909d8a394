/** The filters of Live are in its address, so that a colleague sees the same. */
export interface LiveFilters {
  readonly type?: string;
  readonly endpoint?: string;
  readonly failed?: true;
  readonly grouped?: true;
}

const textIn = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

/** Returns the filters in an address; what it does not know is left out. */
export function liveFiltersIn(search: Record<string, unknown>): LiveFilters {
  const [type, endpoint] = [textIn(search.type), textIn(search.endpoint)];
  return {
    ...(type === undefined ? {} : { type }),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(search.failed === true ? { failed: true as const } : {}),
    ...(search.grouped === true ? { grouped: true as const } : {}),
  };
}
