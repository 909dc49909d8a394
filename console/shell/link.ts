/**
 * A link of the console has its token after the `#`, which browsers send to no server. It is taken out of the address at
 * once, so that it is neither in the history nor in a screenshot, and is spent by a press of a button: programs that look
 * at links in mails press none.
 */
let token: string | undefined;

/** Takes the token out of the address, if there is one. */
export function takeLink(): void {
  const found = /^#link=(.+)$/.exec(location.hash)?.[1];
  if (found === undefined) return;
  token = found;
  history.replaceState(null, '', location.pathname + location.search);
}

export function heldLink(): string | undefined {
  return token;
}

/** Forgets the token: it was spent, or refused. */
export function dropLink(): void {
  token = undefined;
}
