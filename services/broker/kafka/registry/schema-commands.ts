import type { KafkaConfig } from '../../../config/kafka-config.ts';
import { ownSchemas } from './records.ts';
import { CONTENT_TYPE, compactOf, LEVEL } from './registry.ts';

/** The commands that register one schema, for registries where the service may not. */
export interface SchemaCommands {
  /** The record's full name. */
  readonly subject: string;
  /** The compatibility of the subject, as the service sets it. */
  readonly compatibility: string;
  readonly schema: string;
  /** `curl` lines, in order. */
  readonly commands: readonly string[];
}

/**
 * Returns the commands that register every schema of this version, complete in itself, under its record's name. Each
 * registers the same text as the service, so an existing schema keeps its id.
 */
export function schemaCommands({ registry }: Pick<KafkaConfig, 'registry'>): SchemaCommands[] {
  const options = [
    'curl --silent --show-error --fail-with-body',
    // The shell fills these in: no password is printed.
    ...(registry.credentials === null
      ? []
      : ['--user "$HOOKRAIL_SCHEMA_REGISTRY_USERNAME:$HOOKRAIL_SCHEMA_REGISTRY_PASSWORD"']),
    ...(registry.caFile === null || !registry.url.startsWith('https:')
      ? []
      : [`--cacert ${quoted(registry.caFile)}`]),
    `--header 'Content-Type: ${CONTENT_TYPE}' --write-out '\\n'`,
  ].join(' ');
  const line = (method: 'POST' | 'PUT', path: string, body: object) =>
    `${options} --request ${method} ${quoted(`${registry.url}${path}`)} --data-raw ${quoted(JSON.stringify(body))}`;
  return ownSchemas().map(({ subject, text }) => {
    const schema = compactOf(text);
    const name = encodeURIComponent(subject);
    // In this order: some registries do not know a subject before its first version.
    const commands = [
      line('POST', `/subjects/${name}/versions`, { schema }),
      line('PUT', `/config/${name}`, { compatibility: LEVEL }),
    ];
    return { subject, compatibility: LEVEL, schema, commands };
  });
}

/** Quotes one word for a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
