import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandModule } from 'yargs';
import { issueCertificate, openAuthority } from '../receiver/certificate-authority.ts';
import { type CommandOptions, inSession, type Session, type Surroundings } from '../session.ts';

interface CertOptions extends CommandOptions {
  readonly host: string[];
  readonly out: string;
}

/** Issues a certificate of the sandbox's authority, for a developer's own HTTPS receiver. */
export function certCommand(
  surroundings: Surroundings,
): Pick<CommandModule<object, CertOptions>, 'builder' | 'handler'> {
  return {
    builder: {
      host: {
        type: 'string',
        array: true,
        default: ['localhost', '127.0.0.1', '::1'],
        describe: 'Host names and IP addresses',
      },
      out: { type: 'string', default: '.', describe: 'Directory for receiver.crt and receiver.key' },
    },
    handler: (options) => inSession(options, surroundings, (session) => cert(session, options)),
  };
}

async function cert(session: Session, { host, out }: CertOptions): Promise<void> {
  const { settings, output } = session;
  const authority = await openAuthority(settings.dataDir);
  const certificate = await issueCertificate(authority, { hosts: host });
  const files = {
    cert: join(out, 'receiver.crt'),
    key: join(out, 'receiver.key'),
    authority: join(settings.dataDir, 'ca.crt'),
  };
  mkdirSync(out, { recursive: true });
  writeFileSync(files.cert, certificate.certPem);
  writeFileSync(files.key, certificate.keyPem, { mode: 0o600 });
  output.result({ hosts: host, ...files }, `certificate ${files.cert}\nkey         ${files.key}`);
  output.remark(`for ${host.join(', ')}; for your own clients, the authority to trust is ${files.authority}`);
}
