import { fileURLToPath } from 'node:url';

/** The operations: written by hand, and complete in itself. */
export const OPENAPI_FILE = fileURLToPath(new URL('../../openapi.yaml', import.meta.url));
/** Their rules for requests, with every reference replaced by what it names; generated. */
export const OPERATIONS_FILE = fileURLToPath(new URL('../../schemas/operations.json', import.meta.url));
/** The whole description, as it is served: the operations and the webhooks that endpoints receive; generated. */
export const DESCRIPTION_FILE = fileURLToPath(new URL('../../schemas/description.yaml', import.meta.url));
/** The events that producers publish on Kafka, and the webhooks, as AsyncAPI; generated. */
export const ASYNCAPI_FILE = fileURLToPath(new URL('../../schemas/asyncapi.yaml', import.meta.url));
/** The list of the reference's pages for language models; generated. */
export const LLMS_FILE = fileURLToPath(new URL('../../schemas/llms.txt', import.meta.url));
