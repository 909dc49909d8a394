import type { DirectoryChange } from '../../domain/directory.ts';
import { type EndpointRow, toEndpointChange } from './endpoint-rows.ts';
import { type MerchantRow, toMerchantChange } from './merchant-rows.ts';

/** Returns the directory record of a row, as the statements of its kind select it: a merchant, or an endpoint or tombstone. */
export function toDirectoryChange(kind: DirectoryChange['kind'], row: object): DirectoryChange {
  return kind === 'merchant'
    ? toMerchantChange(row as MerchantRow)
    : toEndpointChange(row as EndpointRow & { readonly deleted_at: number | null });
}
