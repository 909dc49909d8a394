/** A stream that ended for a newer one of its key (`replaced`) asks its client to wait so long, so that they take turns. */
export const REPLACED_WAIT_MS = 60_000;

/** An event of a stream as the HTML standard has it. */
export interface ServerSentEvent {
  /** The last id that was sent, with this event or before it; a client resumes after it. */
  readonly lastEventId: string | undefined;
  /** `undefined`: a comment or an id alone, which says that the stream is alive and where it is. */
  readonly event: string | undefined;
  readonly data: string;
}

/**
 * Reads server-sent events. Unlike eventsource-parser it reports an id without data too: hookrail's streams begin with
 * one, from which a client that is cut off before the first event goes on.
 */
export async function* serverSentEvents(
  chunks: AsyncIterable<Uint8Array>,
  resumedFrom: string | undefined,
): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  let block: string[] = [];
  let lastEventId = resumedFrom;
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const text = line.replace(/\r$/, '');
      if (text !== '') {
        block.push(text);
        continue;
      }
      const { id, event, data } = fieldsOf(block);
      block = [];
      lastEventId = id ?? lastEventId;
      yield { lastEventId, event: data === '' ? undefined : (event ?? 'message'), data };
    }
  }
}

function fieldsOf(lines: readonly string[]) {
  const fields: { id?: string; event?: string; data: string } = { data: '' };
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'data') fields.data += fields.data === '' ? value : `\n${value}`;
    else if (name === 'id' || name === 'event') fields[name] = value;
  }
  return fields;
}
