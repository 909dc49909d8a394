import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns the file of authorities that the sandbox's sender trusts: its own one or, if HOOKRAIL_EXTRA_CA_FILE names
 * another, both in one file, because the sender takes one.
 */
export function trustedAuthorities(dataDir: string, given: string | undefined): string {
  const own = join(dataDir, 'ca.crt');
  const bundle = join(dataDir, 'trusted-ca.pem');
  // A later start reads what an earlier one wrote to sandbox.env: that is ours, not the developer's.
  if (!given || given === own || given === bundle) return own;
  writeFileSync(bundle, `${readFileSync(own, 'utf8').trimEnd()}\n${readFileSync(given, 'utf8')}`);
  return bundle;
}
