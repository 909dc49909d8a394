import { ACCESS_BUGS } from './access/bugs.ts';
import { PLATFORM_BUGS } from './access/platform.ts';
import { PORTAL_BUGS } from './access/portal.ts';
import { COMMIT_BUGS } from './brokers/commits.ts';
import { HUNG_BROKER_BUGS } from './brokers/hung-brokers.ts';
import { SEQUENCE_BUGS } from './brokers/sequences.ts';
import { CONNECTION_BUGS } from './connections.ts';
import { CONSOLE_BUGS } from './console/bugs.ts';
import { CONTENT_BUGS } from './contents/bugs.ts';
import { FIND_BUGS } from './find/bugs.ts';
import { FIRST_ATTEMPT_BUGS } from './first-attempts.ts';
import { KAFKA_OPERATING_BUGS } from './kafka-operating.ts';
import { KAFKA_READING_BUGS } from './kafka-reading.ts';
import { KAFKA_WRITING_BUGS } from './kafka-writing.ts';
import { LANE_BUGS } from './lanes.ts';
import { MACHINE_BUGS } from './machine.ts';
import { METRIC_BUGS } from './metrics/bugs.ts';
import { PARKING_BUGS } from './parking.ts';
import type { PlantedBug } from './planted-bug.ts';
import { POSITION_BUGS } from './positions/bugs.ts';
import { POSTGRES_BUGS } from './postgres.ts';
import { POSTGRES_FAILOVER_BUGS } from './postgres-failover.ts';
import { AVRO_BUGS } from './producers/avro.ts';
import { PUBLIC_DOCUMENT_BUGS } from './public/bugs.ts';
import { RECORD_SET_BUGS } from './record-sets.ts';
import { SEAL_BUGS } from './seals/seal-bugs.ts';
import { CLIENT_BUGS } from './security/clients.ts';
import { ENDPOINT_CHECK_BUGS } from './security/endpoint-checks.ts';
import { ENDPOINT_CONTROL_BUGS } from './security/endpoint-controls.ts';
import { PLATFORM_SIGNATURE_BUGS } from './security/platform-signature.ts';
import { PREPARED_SECRET_BUGS } from './security/prepared-secrets.ts';
import { SECRET_MASK_BUGS } from './security/secret-mask.ts';
import { STALL_BUGS } from './security/stalls.ts';
import { VERDICT_BUGS } from './security/verdicts.ts';
import { SEVERAL_API_BUGS } from './several-apis.ts';
import { SPECIFICATION_BUGS } from './specification.ts';
import { ERASURE_BUGS, SQLITE_BUGS } from './sqlite.ts';
import { STORE_COPY_BUGS } from './store-copy.ts';
import { FEED_READER_BUGS } from './users/feed-readers.ts';
import { MERCHANT_GUIDE_BUGS } from './users/merchant-guides.ts';
import { MISTAKEN_COMMAND_BUGS } from './users/mistaken-commands.ts';
import { NOTICE_BUGS } from './users/notices.ts';
import { OPERATOR_BUGS } from './users/operators.ts';
import { RECEIVER_BUGS } from './users/receivers.ts';
import { SANDBOX_BUGS } from './users/sandbox.ts';
import { TEXT_FILE_BUGS } from './users/text-files.ts';
import { WAY_BUGS } from './way/bugs.ts';
import { START_BUGS } from './way/start.ts';
import { TOLD_BUGS } from './way/told.ts';

/** Every bug that `npm run planted` can inject. */
export const PLANTED_BUGS: readonly PlantedBug[] = [
  ...RECORD_SET_BUGS,
  ...AVRO_BUGS,
  ...KAFKA_READING_BUGS,
  ...POSITION_BUGS,
  ...KAFKA_WRITING_BUGS,
  ...KAFKA_OPERATING_BUGS,
  ...HUNG_BROKER_BUGS,
  ...COMMIT_BUGS,
  ...SEQUENCE_BUGS,
  ...FIRST_ATTEMPT_BUGS,
  ...LANE_BUGS,
  ...PARKING_BUGS,
  ...CONNECTION_BUGS,
  ...CONSOLE_BUGS,
  ...CONTENT_BUGS,
  ...WAY_BUGS,
  ...START_BUGS,
  ...TOLD_BUGS,
  ...VERDICT_BUGS,
  ...OPERATOR_BUGS,
  ...SECRET_MASK_BUGS,
  ...STALL_BUGS,
  ...CLIENT_BUGS,
  ...MACHINE_BUGS,
  ...ACCESS_BUGS,
  ...PORTAL_BUGS,
  ...PLATFORM_BUGS,
  ...SQLITE_BUGS,
  ...FIND_BUGS,
  ...ERASURE_BUGS,
  ...POSTGRES_BUGS,
  ...POSTGRES_FAILOVER_BUGS,
  ...STORE_COPY_BUGS,
  ...SEAL_BUGS,
  ...SEVERAL_API_BUGS,
  ...SPECIFICATION_BUGS,
  ...METRIC_BUGS,
  ...SANDBOX_BUGS,
  ...PREPARED_SECRET_BUGS,
  ...ENDPOINT_CHECK_BUGS,
  ...ENDPOINT_CONTROL_BUGS,
  ...FEED_READER_BUGS,
  ...RECEIVER_BUGS,
  ...PLATFORM_SIGNATURE_BUGS,
  ...TEXT_FILE_BUGS,
  ...MISTAKEN_COMMAND_BUGS,
  ...MERCHANT_GUIDE_BUGS,
  ...PUBLIC_DOCUMENT_BUGS,
  ...NOTICE_BUGS,
];
