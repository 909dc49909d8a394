import { fileURLToPath } from 'node:url';

/** The operations: written by hand, complete in itself, and used to validate requests, which need nothing more. */
export const OPENAPI_FILE = fileURLToPath(new URL('../../openapi.yaml', import.meta.url));
/** The whole description, as it is served: the operations and the webhooks that endpoints receive; generated. */
export const DESCRIPTION_FILE = fileURLToPath(new URL('../../schemas/description.yaml', import.meta.url));
