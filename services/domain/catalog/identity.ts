import { type Field, optional, required, statusOf } from './field.ts';

export const KYC_SUB_TYPES = [
  'KYC_NEEDED',
  'PENDING_KYC_DATA',
  'KYC_PENDING',
  'SOFT_KYC_FAILED',
  'HARD_KYC_FAILED',
  'FULL_USER',
  'SUSPENDED',
] as const;

/** docs/decisions.md, "Data of the open types". No personal data. */
export const KYC_FIELDS: readonly Field[] = [
  statusOf(KYC_SUB_TYPES, 'The subType.'),
  optional('docs_missing', 'array', 'Documents that are missing.', {
    on: ['PENDING_KYC_DATA', 'SOFT_KYC_FAILED'],
    fields: [
      required('docType', 'string', 'Kind of document.', {
        values: ['SELFIE', 'PASSPORT', 'DRIVERS', 'ID_CARD', 'RESIDENCE_PERMIT'],
      }),
      optional('docSubType', 'string', 'Which side of it.', { values: ['FRONT_SIDE', 'BACK_SIDE'] }),
    ],
  }),
  optional('kyc_reject_label', 'array', 'Why the check failed, as labels.', {
    on: ['SOFT_KYC_FAILED', 'HARD_KYC_FAILED'],
  }),
  optional('kyc_enduser_error_message', 'string', 'Why the check failed, fit to show to the user.', {
    on: ['SOFT_KYC_FAILED'],
  }),
  required('can_retry', 'boolean', 'Whether the user may correct the data.'),
  required('attempt', 'integer', 'How often the user has submitted.'),
  required('updated_at', 'timestamp', 'When the status changed.'),
];

export const KYB_SUB_TYPES = ['CREATED', 'KYB_PENDING', 'ACTIVE', 'REJECTED'] as const;

/** docs/decisions.md, "Data of the open types". */
export const KYB_FIELDS: readonly Field[] = [
  statusOf(KYB_SUB_TYPES, 'The subType.'),
  required('legal_name', 'string', 'Registered name of the corporate.'),
  optional('registration_number', 'string', 'Its number in the commercial register.'),
  required('country', 'string', 'Country of registration, ISO 3166-1 alpha-2.', { format: 'country' }),
  optional('rejection_reasons', 'array', 'Why compliance review rejected it.', {
    on: ['REJECTED'],
    fields: [
      required('code', 'string', 'Stable code of the reason.'),
      required('message', 'string', 'The reason, for people.'),
    ],
  }),
  optional('associated_persons', 'array', 'Directors, owners and representatives.', {
    on: ['KYB_PENDING', 'ACTIVE'],
    fields: [
      required('uuid', 'uuid', 'The person’s identifier.'),
      required('role', 'string', 'What the person is to the corporate.', {
        values: ['DIRECTOR', 'UBO', 'REPRESENTATIVE'],
      }),
      required('kyc_status', 'string', 'The person’s own KYC status.', { values: KYC_SUB_TYPES }),
    ],
  }),
  required('updated_at', 'timestamp', 'When the status changed.'),
];

export const AML_SUB_TYPES = [
  'AML_CHECKS_IN_PROGRESS',
  'AML_CHECKS_COMPLETED',
  'AML_CHECKS_REJECTED',
  'AML_CHECKS_FAILED',
] as const;

/** docs/decisions.md, "Data of the open types": no further fields, because a reason would tip the customer off. */
export const AML_FIELDS: readonly Field[] = [
  statusOf(AML_SUB_TYPES, 'The subType.'),
  required('screeningUuid', 'uuid', 'Identifier of the screening.'),
  required('subject', 'string', 'What is screened.', { values: ['ENTITY', 'TRANSACTION'] }),
  optional('transactionUuid', 'uuid', 'The transaction, when one is screened.'),
  required('updatedAt', 'timestamp', 'When the status changed.'),
];

export const DUPLICATE_USER_SUB_TYPES = ['DUPLICATE_DETECTED'] as const;

/** docs/decisions.md, "Data of the open types". */
export const DUPLICATE_USER_FIELDS: readonly Field[] = [
  statusOf(DUPLICATE_USER_SUB_TYPES, 'The subType.'),
  required('matchedOn', 'array', 'What the two have in common.', {
    values: ['EMAIL', 'PHONE', 'DOCUMENT', 'NAME_DOB', 'WALLET'],
  }),
  optional('existingUserUuid', 'uuid', 'The user that exists already, when it is the same merchant’s.'),
  required('detectedAt', 'timestamp', 'When it was detected.'),
];

export const ENTITY_STATUS_SUB_TYPES = [
  'BLOCKED',
  'UNBLOCKED',
  'MISSING_TERMS_AND_CONDITIONS_SIGNED',
] as const;

/** docs/specification.md, "Data of entityStatusUpdate". */
export const ENTITY_STATUS_FIELDS: readonly Field[] = [
  required('uuid', 'string', 'Linked user identifier.'),
  { ...statusOf(ENTITY_STATUS_SUB_TYPES, 'The subType.'), required: false },
  optional('reason', 'string', 'Description of the reason for the update.'),
];

export const OTP_NOTIFICATION_SUB_TYPES = ['EMAIL_DELIVERY_FAILED'] as const;

/** docs/specification.md, "Data of otpNotification". */
export const OTP_NOTIFICATION_FIELDS: readonly Field[] = [
  required('failureType', 'string', 'Currently only BOUNCE.', { values: ['BOUNCE'] }),
  required('emailAddress', 'string', 'Recipient address that bounced.'),
  required('diagnosticCode', 'string', 'Reason given by the mail server.'),
  required('timestamp', 'timestamp', 'Time of the bounce.'),
];
