import { ConfigError } from './variables.ts';

export const ROLES = ['api', 'router', 'sender', 'recorder'] as const;

/** A part of hookrail that a process runs. */
type Role = (typeof ROLES)[number];

/** Throws ConfigError for roles that an engine and a store do not allow in one process. */
export function checkRoles(
  engine: 'sqlite' | 'kafka',
  store: 'sqlite' | 'postgres',
  roles: readonly Role[],
): void {
  const missing = ROLES.filter((role) => !roles.includes(role));
  if (engine === 'sqlite' && store === 'postgres')
    throw new ConfigError('HOOKRAIL_STORE=postgres needs Kafka: set HOOKRAIL_ENGINE=kafka');
  if (engine === 'sqlite' && missing.length > 0) {
    throw new ConfigError(
      `HOOKRAIL_ROLES leaves out ${missing.join(', ')}: the sqlite engine is one process of all roles`,
    );
  }
  if (roles.length === 0) {
    throw new ConfigError(`HOOKRAIL_ROLES is empty: name at least one of ${ROLES.join(', ')}`);
  }
  // Both write the store, which is one file of one process.
  if (store === 'sqlite' && roles.includes('api') !== roles.includes('recorder')) {
    const [has, lacks] = roles.includes('api') ? ['api', 'recorder'] : ['recorder', 'api'];
    throw new ConfigError(
      `HOOKRAIL_ROLES has ${has} without ${lacks}: the two share the store, a file of one process; ` +
        'HOOKRAIL_STORE=postgres separates them',
    );
  }
}
