import type { Places } from '../../../services/operator/commands/command.ts';

const missing = async () => {
  throw new Error('the command is not given this place');
};

/** Lends nothing to operator commands: a test replaces the place that its command runs on. */
export const NO_PLACES: Places = { store: missing, broker: missing, clock: missing };
