import { endpointJson } from '../../../api/endpoint-json.ts';
import { isUuid } from '../../../domain/ids.ts';
import type { EndpointRecord } from '../../../store/store.ts';
import type { Given } from '../arguments.ts';
import { type OperatorDeps, on } from '../command.ts';
import { requireMerchant } from '../merchants.ts';
import { OperatorError } from '../operator-error.ts';
import { ENDPOINT_FILTER, refuseCursor } from './filters.ts';

/** Endpoints of any merchant. Of a secret only the hint is shown. */

const ID = { id: { type: 'text', required: true, positional: true, describe: 'The endpoint’s id' } } as const;

export const ENDPOINT_COMMANDS = {
  'endpoints list': on('store', {
    describe: 'List endpoints of all merchants, with what failed last',
    isRead: true,
    args: ENDPOINT_FILTER,
    isNewestFirst: true,
    columns: ['endpointId', 'status', 'failureCount', 'url'],
    run: list,
  }),
  'endpoints get': on('store', {
    describe: 'Show an endpoint and what failed last; of its secret the hint only',
    isRead: true,
    args: ID,
    run: async ({ store, environment }, { id }) => {
      const found = isUuid(id) ? await store.endpoints.find(id.toLowerCase()) : undefined;
      if (found) return operatorsForm(found, environment);
      throw new OperatorError(`there is no endpoint ${id}, or it was deleted: see endpoints list`);
    },
  }),
};

async function list(
  deps: OperatorDeps,
  { merchant, status, failing, limit, after }: Given<typeof ENDPOINT_FILTER>,
) {
  await requireMerchant(deps, merchant);
  // One more than the page has: its presence means that there is a next page.
  const found = await deps.store.endpoints
    .every({
      limit: limit + 1,
      ...(merchant === undefined ? {} : { merchantId: merchant }),
      ...(status === undefined ? {} : { status }),
      ...(failing ? { isFailing: true } : {}),
      ...(after === undefined ? {} : { after }),
    })
    .catch(refuseCursor);
  const records = found.slice(0, limit);
  const next = found.length > limit ? (records.at(-1)?.cursor ?? null) : null;
  return { items: records.map((record) => operatorsForm(record, deps.environment)), next };
}

/** The form for operators: the fields that merchants see, in camelCase as every command prints, and the merchant. */
function operatorsForm(record: EndpointRecord, environment: OperatorDeps['environment']) {
  const { uuid, status, failure_count, url, description, last_failure, ...rest } = endpointJson(
    record,
    environment,
  );
  const others = Object.entries(rest).map(([name, value]) => [camelCase(name), value] as const);
  type Rest = Required<typeof rest>;
  return {
    endpointId: uuid,
    status,
    failureCount: failure_count,
    url,
    merchantId: record.merchantId,
    lastFailureCode: last_failure?.code ?? null,
    lastResponseStatus: last_failure?.response_status ?? null,
    description: description === '' ? null : description,
    ...(Object.fromEntries(others) as { readonly [Name in keyof Rest as CamelCase<Name>]: Rest[Name] }),
  };
}

type CamelCase<Name extends string> = Name extends `${infer Word}_${infer Rest}`
  ? `${Word}${Capitalize<CamelCase<Rest>>}`
  : Name;

function camelCase(name: string): string {
  return name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
