/** Returns a setting of the service that its page carries in a meta element; empty when it has none. */
export function pageSetting(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="hookrail:${name}"]`)?.content ?? '';
}
