/** Returns what an error says, whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns what an error says, on one line. */
export function errorLine(error: unknown): string {
  return messageOf(error).replace(/\s+/g, ' ');
}

/** Returns the code of an error of Node or of a library, such as ECONNREFUSED; `otherwise` when it has none. */
export function codeOf(error: unknown, otherwise = ''): string {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : otherwise;
}

/** Returns what was thrown as an error. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
