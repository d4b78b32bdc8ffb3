"""What the routes of the site read: of their address, of forms, of files."""

# What the address of a page may say beside its path: a bomb goes into one of these at a time.
BOARD = (
    "q sort reference policy aggregation ties tag least.n most.n meta.n "
    "top pin rule family field group mark ranks scores revision page"
)
QUERIES = """
board                  BOARD
board_csv              BOARD
board_download         BOARD
embed                  BOARD
home                   q tag page family
compare                q a b rule page
rules                  q family convention gaps has
rule_page              page
choose_rule            has gaps family
landscape              family
papers                 paper table
try                    example
try_votes              example
export                 revision rule weights all_tasks long x y better by
pareto                 x y better mark
timeline               by rule
rule                   BOARD
system                 BOARD rule revision
head_to_head           a b q rule page revision pin
agreement              BOARD least
scores                 sort q fold page part revision
task                   page revision
prospects              conditions q verdict page system revision
what_if                weights rule policy aggregation ties system above page profile search chosen
what_if_data           weights revision
stability              revision rule page
experiments            study page
instances              revision task page
history                page
history_compare        a b since rule page
distribution           rule
badge                  rule
system_badge           rule
manage_queue           page q
manage_audit           page q
manage_audit_csv       q
notices                page
dashboard              page
search                 q
upload                 q
manage_models          page
manage_task_references metric
manage_phases          phase error
model                  rule page
meta_boards            page
votes                  page
meta_board             reference q format
new_meta_board         b rule score policy reference least
"""
# Routes of which nothing is read from the address but the path.
SILENT = """
predictions rescore_predictions new_predictions example_predictions prediction prediction_progress prediction_step
submitters documents document document_file papers_json status styleguide healthz readyz metrics card feed feed_of_all
release release_data robots sitemap security_txt what_if_profiles experiment experiment_arrays submit correct takedown
new new_draft draft batch batch_progress batch_step join manage manage_tasks manage_metadata manage_releases
manage_studies run_study compute_board compute_ranks manage_clusters manage_edition manage_announcements manage_archive
manage_following organisations organisation manage_organisation leave_organisation join_organisation
manage_decide manage_people manage_webhooks close_account tokens revoke_token sessions second_factor_picture
notice_choices unsubscribe baseline manage_meta_board profile own_data sign_in_with socialaccount_connections
socialaccount_signup socialaccount_login_cancelled github_callback gitlab_callback google_callback orcid_callback
openid_connect_callback use_template manage_references team join_team send_votes votes_file vote_batch manage_votes
"""
# The fields of forms; where a form is filled in otherwise (`pages.World.form`), each of its fields gets a bomb as well.
FIELDS = {
    "try": "text about reference policy aggregation ties rules scores format",
    "new": "name text about tasks action",
    "new_draft": "name key description citation doi tags source_url licence task-0-name task-0-weight task-0-minimum",
    "upload": "text note system_column imported",
    "submit": "system_name organisation url description note score-task-1",
    "new_predictions": "system_name organisation url description note is_trial",
    "prediction_step": "action",
    "correct": "score-task-1 note",
    "draft": "action previewed_number create_system",
    "manage": "name description citation doi tags source_url licence default_rule decision_days daily_cap",
    "manage_tasks": "task-0-name task-0-weight task-0-group task-0-metric task-0-minimum gamma group-0-name",
    "manage_metadata": "text reason action field-TOTAL_FORMS field-0-key field-0-name field-0-unit field-0-choices",
    "manage_models": "action system model reason",
    "manage_task_references": "metric option-positive",
    "manage_phases": "action phase name opens_at closes_at daily_cap total_cap ladder",
    "team": "action name invitation",
    "new_meta_board": "name description benchmarks rule worth missing_policy default_rule least is_public find action",
    "manage_meta_board": "action find benchmarks",
    "manage_releases": "action number name note",
    "manage_edition": "name key",
    "use_template": "name key",
    "manage_announcements": "text moment action",
    "manage_people": "email role action person name invitation",
    "manage_webhooks": "address events file action webhook",
    "organisations": "name key description url",
    "manage_organisation": "action name description url role user invitation benchmark",
    "manage_following": "address kind every_minutes action followed",
    "manage_queue": "action reason batch",
    "manage_decide": "action reason",
    "batch_step": "action reason",
    "baseline": "baseline reason",
    "send_votes": "text columns note",
    "vote_batch": "action reason",
    "manage_votes": "tie_model cluster covariates n_resamples reason action voter",
    "takedown": "reason is_sure",
    "what_if_profiles": "name weights note",
    "experiments": "study rules vector levels copied_tasks first seed n_orders",
    "tokens": "name scopes days",
    "revoke_token": "token",
    "close_account": "password is_sure",
    "account_login": "login password next",
    "account_signup": "email password1 password2 display_name next",
    "account_reset_password": "email",
    "account_reset_password_from_key": "password1 password2",
    "account_email": "email action_add action_remove",
    "account_change_password": "oldpassword password1 password2",
    "account_reauthenticate": "password next",
    "mfa_authenticate": "code",
    "sessions": "session",
    "profile": "organisation orcid",
    "socialaccount_connections": "account",
    "sign_in_with": "process next",
    "unsubscribe": "token",
}
FILES = {
    **dict.fromkeys(("try_votes", "send_votes", "new", "manage_metadata", "manage_task_references"), ("file",)),
    "try": ("file", "about_file"),
    "upload": ("file", "results", "instances"),
    "new_predictions": ("table", "file-task-1"),
}
