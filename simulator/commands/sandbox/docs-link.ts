import { randomBytes } from 'node:crypto';
import {
  DOCS_PASS_PARAMETER,
  DOCS_PASS_RANDOM_BYTES,
  newDocsPass,
  type SandboxKeys,
} from '../../../services/domain/access/docs-pass.ts';

/** Returns a link that shows the sandbox's keys in the reference: to one browser, within 15 minutes. */
export function docsLink(baseUrl: string, keys: SandboxKeys): string {
  const pass = newDocsPass('link', keys, Date.now(), randomBytes(DOCS_PASS_RANDOM_BYTES));
  return `${baseUrl}/docs/?${DOCS_PASS_PARAMETER}=${pass}`;
}
