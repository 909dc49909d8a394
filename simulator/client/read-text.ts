import { CommandFailure, EXIT } from '../exit.ts';

/** The size limit of a response: the longest is a page of 100 deliveries. */
const ANSWER_BYTES_MAX = 8 * 1024 * 1024;

/** Returns the body of a response. Throws a failure when it is larger than any of hookrail's. */
export async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > ANSWER_BYTES_MAX) {
      throw new CommandFailure(
        EXIT.api,
        `the response of ${response.url} is larger than ${ANSWER_BYTES_MAX} bytes: is this hookrail's API?`,
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
