"""What a node says of the attempt that failed: by the stage that ended it, and when there was no machine."""

CAPACITY_MESSAGE = "We currently do not have sufficient capacity to launch new {} instances. Please try again."
SCRIPT_FAILED = (
    "Lifecycle scripts did not run successfully. Ensure the scripts exist in provided S3 path, are accessible, and run "
    "without errors. Please see CloudWatch logs for lifecycle script execution details."
)
SCRIPT_TIMED_OUT = "Lifecycle scripts execution timed out"
FAILURES = {
    "launch-failed": "An internal error occurred while launching the EC2 instance. Please try again.",
    "unhealthy": "Instance provisioning failed: EFA health checks did not run successfully. Ensure that your VPC and "
    "security groups are properly configured before attempting to create a new cluster.",
    "script-failed": SCRIPT_FAILED,
    "script-timed-out": SCRIPT_TIMED_OUT,
    "patch-script-failed": SCRIPT_FAILED,
    "patch-script-timed-out": SCRIPT_TIMED_OUT,
    "check-failed": "Deep health checks did not pass. Another instance is launched in place of this one.",
}
